import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a peer has the name, labels and network that it is given, and an address there', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  const updated = await kit.ask('update_peer', { id, name: 'web 2', labels: { role: 'web' }, network: 'lab' });
  expect(updated).toMatchObject({ id, name: 'web-2', labels: { role: 'web' }, status: { address: '10.97.0.1' } });
});

test('a peer takes no name of another, no network that there is not and no label with a space, and needs network:write', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  expect(await refusalOf(kit.ask('update_peer', { id: 'web-1', name: 'DB-1' }))).toBe('conflict');
  expect(await refusalOf(kit.ask('update_peer', { id: 'web-1', network: 'lab' }))).toBe('invalid_input /network');
  expect(await refusalOf(kit.ask('update_peer', { id: 'web-1', labels: { role: 'a b' } }))).toBe(
    'invalid_input /labels/role',
  );
  expect(await refusalOf(kit.ask('update_peer', { id: 'web-2', labels: {} }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('update_peer', { id: 'web-1', labels: {} }))).toBe('forbidden network:write');
});
