import { expect, test } from 'vitest';
import { buildKit } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { ANONYMOUS } from '../base/caller.ts';
import { guardedStore } from './guarded-store.ts';

test('a call without a credential, such as a login, writes nothing once it is too late, but completes what it began', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  let isLate = false;
  const store = guardedStore(kit.services, ANONYMOUS, undefined, () => {
    if (isLate) throw new Error('Sent before a standstill.');
  });
  const write = (name: string) => seedPeers({ ...kit.services, store }, workspace, { [name]: {} });
  await write('first');
  isLate = true;
  await write('second');
  const late = guardedStore(kit.services, ANONYMOUS, undefined, () => {
    throw new Error('Sent before a standstill.');
  });
  await expect(seedPeers({ ...kit.services, store: late }, workspace, { third: {} })).rejects.toThrow('standstill');
  const { items } = await kit.services.store.list(workspace, 'MeshPeer');
  expect(items.map(({ name }) => name)).toEqual(['first', 'second']);
});
