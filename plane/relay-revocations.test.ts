import { expect, test } from 'vitest';
import type { Change } from '../core/ports.ts';
import type { StoredRecord } from '../core/record.ts';
import { keyChanges } from './relay-revocations.ts';

const peer = (publicKey: string, phase = 'ready') =>
  ({ kind: 'MeshPeer', name: 'a', spec: { publicKey }, status: { phase } }) as unknown as StoredRecord;

test.each<[string, Change, { lost: string[]; gained: string[] }]>([
  ['a new peer', { type: 'created', record: peer('k') }, { lost: [], gained: ['k'] }],
  ['a deleted peer', { type: 'deleted', record: peer('k') }, { lost: ['k'], gained: [] }],
  ['a revoked peer', { type: 'updated', record: peer('k', 'revoked'), before: peer('k') }, { lost: ['k'], gained: [] }],
  ['a rotated key', { type: 'updated', record: peer('new'), before: peer('old') }, { lost: ['old'], gained: ['new'] }],
  ['another change', { type: 'updated', record: peer('k'), before: peer('k') }, { lost: [], gained: [] }],
])('%s changes who may use the relay as it should', (_name, change, expected) => {
  expect(keyChanges([change])).toEqual(expected);
});
