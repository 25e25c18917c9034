import fc from 'fast-check';
import { expect, test } from 'vitest';
import { violationsIn } from './check.ts';
import type { Operation, Read, Version, Write } from './history.ts';

/** Keys a and b: a written at 1 and 3, b made at 2 and deleted at 4. */
const LOG: readonly Version[] = [
  { key: 'a', revision: 1, value: 10 },
  { key: 'b', revision: 2, value: 20 },
  { key: 'a', revision: 3, value: 30 },
  { key: 'b', revision: 4 },
];
const [A1, B2, A3, B4] = [
  write('a', 10, { began: 0, ended: 1, ifRevision: 0, outcome: { done: 1 } }),
  write('b', 20, { began: 2, ended: 3, ifRevision: 0, outcome: { done: 2 } }),
  write('a', 30, { began: 4, ended: 5, ifRevision: 1, outcome: { done: 3 } }),
  write('b', undefined, { began: 6, ended: 7, ifRevision: 2, outcome: 'done' }),
];
const HONEST: readonly Operation[] = [A1, B2, A3, B4];

test('a history in which everyone saw what was there has no violation', () => {
  expect(
    check([...HONEST, read([LOG[0]], 1.1, 1.9), read([LOG[2], LOG[1]], 5.1, 5.9), read([LOG[2]], 7.1, 8)]),
  ).toEqual([]);
});

test('what is written while it is read may be seen or not', () => {
  expect(check([...HONEST, read([LOG[0], LOG[1]], 4.1, 4.9), read([LOG[2], LOG[1]], 4.2, 4.8)])).toEqual([]);
});

test('a write without an answer may have been done, at any time after it began, or not', () => {
  const cut = (each: Write): Write => ({ ...each, ended: Number.POSITIVE_INFINITY, outcome: 'unknown' });
  expect(check([A1, B2, cut(A3), B4])).toEqual([]);
  expect(check([...HONEST, write('a', 99, { began: 1, ended: Number.POSITIVE_INFINITY, outcome: 'unknown' })])).toEqual(
    [],
  );
  expect(check([A1, B2, { ...cut(A3), began: 7.5 }, B4])).toEqual([
    expect.stringMatching(/it is at 3, and 4 was there/),
  ]);
});

test('an old state that is read after a newer write was acknowledged is a violation', () => {
  expect(check([...HONEST, read([LOG[0], LOG[1]], 5.1, 5.9)])).toEqual([expect.stringMatching(/a of 1, 10, was read/)]);
});

test('a record that is read after its deletion, or missed while it is there, is a violation', () => {
  expect(check([...HONEST, read([LOG[2], LOG[1]], 7.1, 8)])).toHaveLength(1);
  expect(check([...HONEST, read([LOG[0]], 3.1, 3.9)])).toEqual([expect.stringMatching(/no b was read/)]);
});

test('records of two moments in one answer are a violation', () => {
  expect(check([...HONEST, read([LOG[0]], 0.5, 9)])).toEqual([]);
  expect(check([{ ...A3, ended: 8 }, A1, B2, B4, read([LOG[0]], 4.5, 7.5)])).toEqual([
    expect.stringMatching(/no b was read/),
  ]);
});

test('who has read something new is followed by nobody who reads something older', () => {
  const slow = { ...A3, ended: 20 };
  const older = read([LOG[0], LOG[1]], 4.5, 4.6);
  expect(check([A1, B2, slow, { ...B4, began: 20, ended: 21 }, older, read([LOG[2], LOG[1]], 4.7, 4.8)])).toEqual([]);
  expect(
    check([A1, B2, slow, { ...B4, began: 20, ended: 21 }, read([LOG[2], LOG[1]], 4.1, 4.2), { ...older, by: 'late' }]),
  ).toEqual([expect.stringMatching(/^late: a of 1/)]);
});

test('what was acknowledged and is not in the log, and what nobody wrote, are violations', () => {
  expect(check([...HONEST, write('c', 1, { began: 8, ended: 9, outcome: { done: 5 } })])).toHaveLength(1);
  expect(check([A1, B2, A3])).toEqual(['the log has b at 4, which nobody wrote']);
  expect(check([...HONEST, { ...A1, began: 8, ended: 9 }])).toHaveLength(1);
});

test('a later write with an earlier revision is a violation', () => {
  expect(check([A1, { ...B2, began: 8, ended: 9 }, A3, B4])).toEqual([
    expect.stringMatching(/it is at 2, and 4 was there/),
  ]);
});

test('a write that was done over another version than it named is a violation', () => {
  expect(check([A1, B2, { ...A3, ifRevision: 2 }, B4])).toEqual([expect.stringMatching(/done over 1/)]);
  expect(check([A1, B2, { ...A3, ifRevision: 0 }, B4])).toHaveLength(1);
});

test('a write is refused only where something spoke against it', () => {
  const refused = (began: number, ended: number) => write('a', 77, { began, ended, ifRevision: 1, outcome: 'refused' });
  expect(check([...HONEST, refused(4.5, 4.8)])).toEqual([]);
  expect(check([...HONEST, refused(7.5, 8)])).toEqual([]);
  // It is to be of what was written before the answer.
  expect(check([...HONEST, refused(2, 3)])).toEqual([expect.stringMatching(/it is at 3, and 3 was there/)]);
  const never = write('a', 77, { began: 7.5, ended: 8, ifRevision: 3, outcome: 'refused' });
  expect(check([...HONEST, never])).toEqual([expect.stringMatching(/nothing spoke against it/)]);
});

function check(operations: readonly Operation[]): string[] {
  return violationsIn(operations, LOG);
}

function write(key: string, value: number | undefined, rest: Omit<Write, 'op' | 'key' | 'value' | 'by'>): Write {
  return { op: 'write', by: `write ${value} to ${key}`, key, ...(value !== undefined && { value }), ...rest };
}

function read(versions: readonly (Version | undefined)[], began: number, ended: number): Read {
  const there = versions.filter((version) => version !== undefined);
  return { op: 'read', by: 'reader', keys: ['a', 'b'], versions: there, began, ended };
}

test('whatever is done at one moment between its begin and its answer has no violation, and one stale answer has', () => {
  const moments = fc.array(
    fc.record({
      at: fc.nat(1_000),
      early: fc.nat(200),
      late: fc.nat(200),
      key: fc.constantFrom('a', 'b'),
      what: fc.nat(5),
    }),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(
    fc.property(moments, (steps) => {
      const { operations, log } = played(steps);
      expect(violationsIn(operations, log)).toEqual([]);
      const newest = log.at(-1);
      const before = newest && log.filter(({ key }) => key === newest.key).at(-2);
      if (!newest || before?.value === undefined) return;
      const stale: Read = { ...read([before], 2_000, 2_001), keys: [newest.key] };
      expect(violationsIn([...operations, stale], log)).toHaveLength(1);
    }),
  );
});

/** A store of one process that does each step at its instant. */
function played(steps: readonly { at: number; early: number; late: number; key: string; what: number }[]) {
  const now = new Map<string, Version>();
  const log: Version[] = [];
  const operations = steps
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, early, late, key, what }, index): Operation => {
      const asked = { by: `step ${index}`, began: at - early, ended: at + late };
      const there = now.get(key);
      if (what > 3) {
        const all = [...now.values()].filter(({ value }) => value !== undefined);
        return { op: 'read', keys: ['a', 'b'], versions: all, ...asked };
      }
      const ifRevision = what < 2 ? (there?.value === undefined ? 0 : there.revision) : what === 2 ? 1 : undefined;
      const value = what === 3 ? undefined : index;
      const isMet =
        ifRevision === undefined ? there?.value !== undefined : ifRevision === 0 || there?.revision === ifRevision;
      const sent = { op: 'write', key, ...(value !== undefined && { value }), ...asked } as const;
      const asks = { ...sent, ...(ifRevision !== undefined && { ifRevision }) };
      if (!isMet || (ifRevision !== undefined && ifRevision !== 0 && there?.value === undefined)) {
        return { ...asks, outcome: 'refused' };
      }
      const version = { key, revision: log.length + 1, ...(value !== undefined && { value }) };
      now.set(key, version);
      log.push(version);
      return { ...asks, outcome: { done: version.revision } };
    });
  return { operations, log };
}
