import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device is given the peers that it may reach, their keys and addresses', async () => {
  await using kit = await buildWorkspaceKit();
  const { self, id } = await kit.join('web-1');
  const other = await kit.join('db-1');
  const graph = await kit.call('get_own_graph', {}, self);
  expect(graph).toMatchObject({ kind: 'full', self: { id, name: 'web-1', phase: 'ready' } });
  expect(graph.peers).toMatchObject([{ id: other.id, publicKey: other.key.publicKey, address: other.address }]);
});

test('what policy shuts out is in no graph', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  await kit.join('db-1');
  await kit.ask('create_policy', { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } });
  expect((await kit.call('get_own_graph', {}, self)).peers).toEqual([]);
});

test('only a device is answered, and it needs its own token', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  expect(await refusalOf(kit.ask('get_own_graph', {}))).toBe('forbidden device');
  expect(await refusalOf(kit.call('get_own_graph', {}))).toBe('unauthenticated');
});
