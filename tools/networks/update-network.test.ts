import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a network that is replaced has its new block, and its peers keep their addresses', async () => {
  await using kit = await buildWorkspaceKit();
  const { address } = await kit.join('web-1');
  const updated = await kit.ask('update_network', { id: 'default', spec: { cidr: '10.96.0.0/20' } });
  expect(updated).toMatchObject({ spec: { cidr: '10.96.0.0/20' }, status: { peers: 1, allocated: 1 } });
  expect(await kit.ask('get_peer', { id: 'web-1' })).toMatchObject({ status: { address } });
});

test('a block may not leave out an address in use, and a network is replaced where it is, with network:write', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  const spec = { cidr: '10.97.0.0/24' };
  expect(await refusalOf(kit.ask('update_network', { id: 'default', spec }))).toBe('conflict');
  expect(await refusalOf(kit.ask('update_network', { id: 'default', spec: { cidr: 'x' } }))).toBe(
    'invalid_input /spec/cidr',
  );
  expect(await refusalOf(kit.ask('update_network', { id: 'lab', spec }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('update_network', { id: 'default', spec }))).toBe('forbidden network:write');
});
