import { expect, test } from 'vitest';
import { enrol } from '../../test/kits/plane/devices.ts';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
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

test('a peer that cannot have the name has neither the labels nor the network that were sent with it', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const { labels } = await kit.ask('get_peer', { id: 'web-1' });
  expect(await refusalOf(kit.ask('update_peer', { id: 'web-1', name: 'db-1', labels: { role: 'db' } }))).toBe(
    'conflict',
  );
  expect((await kit.ask('get_peer', { id: 'web-1' })).labels).toEqual(labels);
});

test('name and labels that a person has to approve wait together', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('generate_join_token', { name: 'web' });
  await enrol(kit, token, 'web-1');
  const bob = kit.askWith(await kit.person('bob', 'admin', kit.prod));
  await kit.ada('update_workspace', { settings: { requireApproval: true } });
  const { workflow_id: id } = await kit.ada('update_peer', { id: 'web-1', name: 'web-2', labels: { role: 'web' } });
  expect(await kit.ada('get_peer', { id: 'web-1' })).toMatchObject({ name: 'web-1', labels: {} });
  expect(await bob('approve_workflow', { id })).toMatchObject({ status: 'executed' });
  expect(await kit.ada('get_peer', { id: 'web-2' })).toMatchObject({ labels: { role: 'web' } });
});

test('where writes need approval a name alone waits too, whoever gives it and in whichever phase the peer is', async () => {
  await using kit = await buildPeopleKit();
  const { token } = await kit.ada('generate_join_token', { name: 'web', usageLimit: 2 });
  await enrol(kit, token, 'ceo-laptop');
  const bob = kit.askWith(await kit.person('bob', 'admin', kit.prod));
  const root = await kit.ada('create_agent', { name: 'root', scopes: ['network:read', 'network:write'] });
  await kit.ada('update_workspace', { settings: { requireApproval: true, requirePeerApproval: true } });
  await enrol(kit, token, 'evil');
  const { workflow_id: id, status } = await kit.ada('update_peer', { id: 'ceo-laptop', name: 'tmp-1' });
  expect([id, status]).toEqual([expect.stringMatching(/^wf_/), 'pending_approval']);
  for (const ask of [kit.ada, kit.askWith(root.token)]) {
    expect(await ask('update_peer', { id: 'evil', name: 'web-1' })).toMatchObject({ status: 'pending_approval' });
  }
  expect(await refusalOf(kit.ada('approve_workflow', { id }))).toBe('forbidden');
  expect(await bob('approve_workflow', { id })).toMatchObject({ status: 'executed' });
  expect(await kit.ada('get_peer', { id: 'tmp-1' })).toMatchObject({ displayName: 'tmp-1' });
  expect(await kit.ada('get_peer', { id: 'evil' })).toMatchObject({ status: { phase: 'pending' } });
});
