import { expect, test } from 'vitest';
import { KINDS } from './record.ts';
import { RECORD_FIELDS, type RecordFields } from './record-fields.ts';

test('a field of a spec or a status that says nothing about access does not compile', () => {
  const { spec, status } = RECORD_FIELDS.MeshPeer as RecordFields<'MeshPeer'>;
  const { network: _, ...others } = spec;
  const { ephemeral: __, ...rest } = status;
  // @ts-expect-error the network of a peer is missing
  const withoutField: RecordFields<'MeshPeer'>['spec'] = others;
  // @ts-expect-error an optional field is missing
  const withoutOptional: RecordFields<'MeshPeer'>['status'] = rest;
  // @ts-expect-error there is no such role
  const unknownRole: RecordFields<'MeshPeer'>['spec'] = { ...spec, network: 'opens' };
  // @ts-expect-error a peer has no such field
  const unknownField: RecordFields<'MeshPeer'>['spec'] = { ...spec, colour: 'nothing' };
  expect([withoutField, withoutOptional, unknownRole, unknownField]).toHaveLength(4);
});

test('a field of a directory that would show what an issuer says of a person does not compile', () => {
  const { spec } = RECORD_FIELDS.DirectoryUser as RecordFields<'DirectoryUser'>;
  const allowed: RecordFields<'DirectoryUser'>['spec'] = { ...spec, active: 'phase' };
  // @ts-expect-error a name
  const withName: RecordFields<'DirectoryUser'>['spec'] = { ...spec, userName: 'identifies' };
  // @ts-expect-error a text
  const withText: RecordFields<'DirectoryGroup'>['spec']['attributes'] = 'text';
  expect([allowed.attributes, withName.externalId, withText]).toEqual(['personal', 'personal', 'text']);
});

test('no two fields of a kind that people decide on have one name, so that none hides another', () => {
  const decided = new Set(['grants', 'limits', 'binds', 'expires', 'phase', 'setting']);
  for (const [kind, fields] of Object.entries(RECORD_FIELDS)) {
    if (fields === 'nothing') continue;
    const own = { labels: fields.labels };
    const names = [own, fields.spec, fields.status].flatMap((part) =>
      Object.entries(part).flatMap(([name, role]) => (decided.has(role) ? [`${kind} ${name}`] : [])),
    );
    expect(new Set(names).size).toBe(names.length);
  }
  expect(Object.keys(RECORD_FIELDS).sort()).toEqual(Object.keys(KINDS).sort());
});

/** Fields whose names sound like a secret and that hold none. */
const PUBLIC: ReadonlySet<string> = new Set([
  ...['publicKey', 'keySince', 'tokenId', 'tokenBy', 'tokenUses', 'passwordState', 'passwordChangedAt'],
]);

test('a field whose name speaks of a secret is one, or nobody is told of it', () => {
  const shown = Object.entries(RECORD_FIELDS).flatMap(([kind, fields]) => {
    if (fields === 'nothing') return [];
    return Object.entries({ ...fields.spec, ...fields.status }).flatMap(([name, role]) =>
      /secret|password|hash|digest|key|token|factor|recovery|enrolment/i.test(name) &&
      role !== 'secret' &&
      role !== 'nothing' &&
      !PUBLIC.has(name)
        ? [`${kind} ${name}`]
        : [],
    );
  });
  expect(shown).toEqual([]);
});
