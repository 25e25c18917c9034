import { describe, expect, it } from 'vitest';
import { hasStatement, readByOf, storedCheck, storedReading, writerOf } from './check.ts';

const WEB = { src: 'role=web', dst: 'role=db', expect: 'allow' } as const;
const BY = { requesterId: 'u_ada', summary: 's', records: [] } as const;

describe('a workflow that an earlier version stored', () => {
  it.each([
    ['of the grammar alone, as it was checked', { plannedBy: 'grammar', verification: 'proven' }, 'matches'],
    ['held to what its caller expects too', { plannedBy: 'grammar', expectedBy: 'caller', verification: 'proven' }],
    ['of a caller', { plannedBy: 'caller', expectedBy: 'caller', verification: 'proven' }],
    ['that something speaks against, whatever that was', { plannedBy: 'grammar', verification: 'unmet' }],
    ['that does not say whose it is', { verification: 'proven' }],
    ['of 0.1.0, which kept nothing of it', {}],
  ] as const)('%s', (_name, spec, check: string = 'not checked') => {
    expect(storedCheck(spec)).toBe(check);
  });

  it('says who read the intent only where it kept that', () => {
    const readers = (requesterId: string) =>
      (['grammar', 'model', 'caller', 'revert', undefined] as const).map((plannedBy) =>
        readByOf({ requesterId, ...(plannedBy && { plannedBy }) }),
      );
    expect(readers('u_ada')).toEqual(['language', 'model', 'person', 'person', undefined]);
    expect(readers('agt_1')).toEqual(['language', 'model', 'agent', 'agent', undefined]);
  });

  it('takes what its caller expected for no statement of the intent', () => {
    const mixed = storedReading({ ...BY, expectations: [WEB], plannedBy: 'caller', expectedBy: 'caller' });
    expect(mixed).toMatchObject({ expectations: [], callerExpectations: [WEB] });
    expect(hasStatement(mixed)).toBe(false);
    expect(hasStatement(storedReading({ ...BY, expectations: [WEB], plannedBy: 'grammar' }))).toBe(true);
    expect(hasStatement(storedReading({ ...BY, expectations: [WEB] }))).toBe(false);
  });

  it('is not checked against sentences about records, nor against those beside changes of its caller', () => {
    const records = [{ kind: 'absent' }, { kind: 'closed-by-default' }] as const;
    const about = storedReading({ ...BY, records, expectations: [], plannedBy: 'grammar' });
    expect([about.records, hasStatement(about)]).toEqual([[], false]);
    const beside = storedReading({ ...BY, expectations: [WEB], plannedBy: 'caller', expectedBy: 'language' });
    expect([beside.expectations, hasStatement(beside)]).toEqual([[], false]);
  });

  it('is checked against the records that it restores', () => {
    const records = [{ kind: 'restored', revision: 3, records: [] }] as const;
    const undo = storedReading({ ...BY, records, expectations: [], plannedBy: 'revert' });
    expect([undo.records, hasStatement(undo)]).toEqual([records, true]);
  });
});

it.each([
  ['user', true, 'rest', 'person'],
  ['user', true, 'mcp', 'agent'],
  ['user', false, 'rest', 'agent'],
  ['agent', true, 'rest', 'agent'],
] as const)('the changes of a %s (session: %s) over %s are written by: %s', (kind, interactive, face, writer) => {
  const caller = { kind, interactive } as Parameters<typeof writerOf>[0]['caller'];
  expect(writerOf({ face, ...(caller && { caller }) } as Parameters<typeof writerOf>[0])).toBe(writer);
});
