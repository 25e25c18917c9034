import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a deleted network is answered by its name and is gone', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  expect(await kit.ask('delete_network', { id })).toEqual({ deleted: 'lab' });
  expect(await refusalOf(kit.ask('delete_network', { id }))).toBe('not_found');
});

test('the network default, one with peers and one of another workspace stay, and so does any without network:write', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  await kit.join('web-1');
  await kit.ask('update_peer', { id: 'web-1', network: 'lab' });
  expect(await refusalOf(kit.ask('delete_network', { id: 'default' }))).toBe('conflict');
  expect(await refusalOf(kit.ask('delete_network', { id }))).toBe('conflict');
  expect(await refusalOf(kit.foreign('delete_network', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('delete_network', { id }))).toBe('forbidden network:write');
});
