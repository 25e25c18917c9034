import { expect, test } from 'vitest';
import { fieldChanges, fieldChangeText } from './field-changes.ts';
import type { Change } from './ports.ts';
import { KINDS, type Kind } from './record.ts';
import { RECORD_FIELDS } from './record-fields.ts';

type Parts = { readonly spec?: object; readonly status?: object; readonly labels?: object };

const record = (kind: Kind, { spec = {}, status = {}, labels = {} }: Parts) =>
  ({ kind, name: 'one', uid: 'x_1', spec, status, labels }) as unknown as Change['record'];

function told(kind: Kind, before: Parts | undefined, after: Parts | undefined): string[] {
  const [was, is] = [before, after].map((parts) => parts && record(kind, parts));
  const type = was === undefined ? 'created' : is === undefined ? 'deleted' : 'updated';
  const change = { type, record: is ?? was, before: was } as unknown as Change;
  return fieldChanges(change).map(fieldChangeText);
}

test('settings are told by their path, with switches as on and off, and only those that changed', () => {
  const before = { settings: { requireApproval: false, timeZone: 'UTC', compliance: { cde: ['zone=card'] } } };
  const after = { settings: { requireApproval: true, timeZone: 'UTC', compliance: { cde: ['zone=card', 'a=b'] } } };
  expect(told('Workspace', { spec: before }, { spec: after })).toEqual([
    'requireApproval: off → on',
    'compliance.cde: zone=card → zone=card, a=b',
  ]);
  expect(told('Workspace', { spec: after }, { spec: { settings: { timeZone: 'UTC' } } })).toEqual([
    'requireApproval: on → unset',
    'compliance.cde: zone=card, a=b → unset',
  ]);
});

test('of a secret it is told that it changed, and of what only goes with it nothing', () => {
  const factor = { secret: 'sealed one', since: 1, lastStep: 1, recovery: ['hash'] };
  const spec = { passwordHash: 'one', formerPasswords: ['none'], secondFactor: factor, epoch: 1, displayName: 'A' };
  const used = { ...spec, secondFactor: { ...factor, lastStep: 2 }, epoch: 2 };
  expect(told('Account', { spec }, { spec: used })).toEqual([]);
  const other = { ...used, passwordHash: 'two', secondFactor: { ...factor, secret: 'sealed two' }, displayName: 'B' };
  expect(told('Account', { spec }, { spec: other })).toEqual([
    'displayName: A → B',
    'passwordHash: changed',
    'secondFactor: changed',
  ]);
});

test('the address of a receiver is told without its path, which is often a password', () => {
  const [before, after] = ['https://hooks.example/T0/secret', 'https://other.example/?key=secret'].map((url) => ({
    spec: { url },
  }));
  expect(told('Webhook', before, after)).toEqual(['url: https://hooks.example/… → https://other.example/…']);
});

test('a new record tells what it grants and until when, and one that is gone what it granted', () => {
  const spec = {
    kind: 'api',
    name: 'ci',
    scopes: ['network:read'],
    expiresAt: Date.UTC(2026, 0, 2),
    maxGrant: 3_600_000,
  };
  expect(told('Token', undefined, { spec })).toEqual([
    'kind: unset → api',
    'scopes: unset → network:read',
    'expiresAt: unset → 2026-01-02T00:00:00.000Z',
    'maxGrant: unset → 1h',
  ]);
  expect(told('Token', { spec }, undefined)).toEqual(['scopes: network:read → unset', 'maxGrant: 1h → unset']);
});

test('long values and many fields are cut', () => {
  const many = Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`field${at}`, at]));
  const after = { settings: { ...many, long: 'x'.repeat(5_000) } };
  const texts = told('Workspace', { spec: { settings: {} } }, { spec: after });
  expect([texts.length, texts.at(-1)]).toEqual([51, '21 more fields: changed']);
  expect(told('Workspace', { spec: {} }, { spec: { displayName: 'x'.repeat(5_000) } })[0]?.length).toBeLessThan(250);
});

test('every field of every record without history is told of as its role says, so that none is missed', () => {
  const [shown, hidden] = [new Set<string>(), new Set<string>()];
  for (const [kind, fields] of Object.entries(RECORD_FIELDS)) {
    if (fields === 'nothing' || KINDS[kind as Kind].history) continue;
    for (const part of ['spec', 'status'] as const) {
      for (const [name, role] of Object.entries(fields[part])) {
        const texts = told(kind as Kind, { [part]: { [name]: 'was this' } }, { [part]: { [name]: 'is that' } });
        if (texts[0]?.includes('is that')) shown.add(role);
        if (texts[0] === `${name}: changed`) hidden.add(role);
        expect(texts.length).toBe(role === 'nothing' ? 0 : 1);
      }
    }
  }
  expect([...hidden].sort()).toEqual(['personal', 'secret']);
  expect(shown.isDisjointFrom(hidden)).toBe(true);
});
