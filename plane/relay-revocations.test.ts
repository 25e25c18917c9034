import { expect, test } from 'vitest';
import type { Change } from '../core/base/ports.ts';
import type { PeerPhase } from '../core/model/resources.ts';
import { workspaceTagOf } from '../net/relay/credential.ts';
import type { Member } from '../net/relay/member.ts';
import { join, joinToken, proofOf } from '../test/kits/plane/devices.ts';
import { buildKit, person } from '../test/kits/plane/kit.ts';
import { peer as peerRecord } from '../test/kits/records/records.ts';
import { keyChanges, startRelayRevocations } from './relay-revocations.ts';

const peer = (publicKey: string, phase: PeerPhase = 'ready') => peerRecord('a', { publicKey, phase });

test.each<[string, Change, { lost: string[]; gained: string[] }]>([
  ['a new peer', { type: 'created', record: peer('k') }, { lost: [], gained: ['k'] }],
  ['a deleted peer', { type: 'deleted', record: peer('k') }, { lost: ['k'], gained: [] }],
  ['a revoked peer', { type: 'updated', record: peer('k', 'revoked'), before: peer('k') }, { lost: ['k'], gained: [] }],
  ['a rotated key', { type: 'updated', record: peer('new'), before: peer('old') }, { lost: ['old'], gained: ['new'] }],
  ['another change', { type: 'updated', record: peer('k'), before: peer('k') }, { lost: [], gained: [] }],
])('%s changes who may use the relay as it should', (_name, change, expected) => {
  expect(keyChanges([change])).toEqual(expected);
});

test('a device that leaves one workspace keeps its place at the relay in another', async () => {
  await using kit = await buildKit();
  const told: string[] = [];
  const note = (what: string) => (member: Member) =>
    void told.push(`${what} ${Buffer.from(member.workspace).toString('hex')}`);
  const revocations = await startRelayRevocations(kit.services, { allow: note('allow'), revoke: note('revoke') });
  const [here, there] = [await kit.workspace(), await kit.workspace()];
  const { key } = await join(kit, here, 'a');
  const token = await joinToken(kit, there);
  await join(kit, there, 'a', { token, key, proof: proofOf(key, token, kit.services.keys.controlKey) });
  await kit.call('delete_peer', { id: 'a' }, { as: person('operator', there), workspace: there });
  revocations.stop();
  const tag = (workspace: string) => Buffer.from(workspaceTagOf(workspace)).toString('hex');
  expect(told).toEqual([`allow ${tag(here)}`, `allow ${tag(there)}`, `revoke ${tag(there)}`]);
});
