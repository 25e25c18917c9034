import { expect, test } from 'vitest';
import { buildKit } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';
import { ANONYMOUS } from '../base/caller.ts';
import { servicesFor } from './pipeline.ts';

test('a call without a credential, such as a login, writes nothing once it is too late, but completes what it began', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  let isLate = false;
  const requireTimely = () => {
    if (isLate) throw new Error('Sent before a standstill.');
  };
  const services = servicesFor(kit.services, { caller: ANONYMOUS, requireTimely });
  const write = (name: string) => seedPeers(services, workspace, { [name]: {} });
  await write('first');
  isLate = true;
  await write('second');
  const late = servicesFor(kit.services, { caller: ANONYMOUS, requireTimely });
  await expect(seedPeers(late, workspace, { third: {} })).rejects.toThrow('standstill');
  const { items } = await kit.services.store.list(workspace, 'MeshPeer');
  expect(items.map(({ name }) => name)).toEqual(['first', 'second']);
});
