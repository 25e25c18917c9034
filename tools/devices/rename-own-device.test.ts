import { expect, test } from 'vitest';
import { draftOf } from '../../core/base/record.ts';
import { freshKey, oldKeyProofOf } from '../../test/kits/plane/devices.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device has the name that it gave itself, and keeps its id', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  expect(await kit.call('rename_own_device', { name: 'web 2' }, self)).toMatchObject({ id, name: 'web-2' });
});

test('a device takes no name of another and none that cannot be one, and sets no labels', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  await kit.join('db-1');
  const rename = (raw: Record<string, unknown>) => kit.call('rename_own_device', raw, self);
  expect(await refusalOf(rename({ name: 'DB-1' }))).toBe('conflict');
  expect(await refusalOf(rename({ name: '/' }))).toBe('invalid_input /name');
  expect(await refusalOf(rename({ name: 'web-2', labels: {} }))).toBe('invalid_input /labels');
});

test('no device takes a name that begins with a hyphen; one that has it keeps it, registers again and is renamed', async () => {
  await using kit = await buildWorkspaceKit();
  const token = (await kit.ask('generate_join_token', { name: 'any' })).token;
  const { id, self, key } = await kit.join('web-1', { token });
  const update = (raw: Record<string, unknown>) => kit.ask('update_peer', { id, ...raw });
  for (const name of ['-x', '--help', ' x', '----']) {
    expect(await refusalOf(kit.join(name))).toBe('invalid_input /name');
    expect(await refusalOf(kit.call('rename_own_device', { name }, self))).toBe('invalid_input /name');
    expect(await refusalOf(update({ name }))).toBe('invalid_input /name');
  }
  await storeUnderName(kit, 'web-1', '-old');
  expect(await kit.join('-old', { token, key })).toMatchObject({ id, name: '-old' });
  expect(await update({ name: '-old', labels: { role: 'web' } })).toMatchObject({ id, name: '-old' });
  expect(await update({ name: 'web-1' })).toMatchObject({ id, name: 'web-1' });
});

/** As a control plane up to 0.2.0 let a peer be named. */
async function storeUnderName(
  { services, workspace }: Awaited<ReturnType<typeof buildWorkspaceKit>>,
  from: string,
  to: string,
) {
  const peer = (await services.states.current(workspace)).peers.get(from);
  if (!peer) throw new Error(`There is no ${from}.`);
  const ops = [
    { op: 'delete', key: { kind: 'MeshPeer', name: from } },
    { op: 'create', record: { ...draftOf(peer), name: to } },
  ] as const;
  await services.store.commit(workspace, ops, {
    actor: 'user:admin',
    reason: 'named by an earlier release',
    requestId: 'r_test',
  });
}

test('only a device is answered, and it needs its own token', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.join('web-1');
  expect(await refusalOf(kit.ask('rename_own_device', { name: 'web-2' }))).toBe('forbidden device');
  expect(await refusalOf(kit.call('rename_own_device', { name: 'web-2' }))).toBe('unauthenticated');
});

test('where writes need approval a device keeps its name until a person approves the new one', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const rename = (name: string) => kit.call('rename_own_device', { name }, self);
  const asked = await rename('web-2');
  expect(asked).toMatchObject({ status: 'pending_approval', message: expect.stringContaining('web-1 to web-2') });
  expect(await rename('web-2')).toEqual(asked);
  expect(await kit.call('get_own_device', {}, self)).toMatchObject({ id, name: 'web-1' });
  await kit.ask('approve_workflow', { id: asked.workflow_id });
  expect(await kit.call('get_own_device', {}, self)).toMatchObject({ id, name: 'web-2' });
  expect(await rename('web-2')).toMatchObject({ id, name: 'web-2' });
});

test('of a device one new name waits at a time, and none of one that has left', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const { workflow_id: id } = await kit.call('rename_own_device', { name: 'web-2' }, self);
  expect(await refusalOf(kit.call('rename_own_device', { name: 'web-3' }, self))).toBe('rate_limited');
  expect(await kit.call('leave_network', {}, self)).toEqual({ deleted: 'web-1' });
  expect(await kit.ask('approve_workflow', { id })).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('forbidden'),
  });
});

test('where writes need approval a device changes its key, with a proof by the old one, and leaves by itself', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, key, self } = await kit.join('web-1');
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const { publicKey } = freshKey();
  const oldKeyProof = oldKeyProofOf(key, id, publicKey, kit.services.keys.controlKey);
  const rotated = await kit.call('rotate_device_key', { publicKey, oldKeyProof }, self);
  expect(rotated).toMatchObject({ publicKey });
  expect(await kit.call('leave_network', {}, { bearer: rotated.deviceToken })).toEqual({ deleted: 'web-1' });
});

test('a device that awaits approval keeps its name and its key', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('update_workspace', { settings: { requirePeerApproval: true } });
  const { id, key, self } = await kit.join('web-1');
  expect(await refusalOf(kit.call('rename_own_device', { name: 'web-2' }, self))).toBe('peer_pending');
  expect(await refusalOf(kit.call('rotate_device_key', { publicKey: freshKey().publicKey }, self))).toBe(
    'peer_pending',
  );
  const approved = await kit.ask('approve_peer', { id });
  expect(approved).toMatchObject({ name: 'web-1', publicKey: key.publicKey, status: { phase: 'ready' } });
  expect(await kit.call('rename_own_device', { name: 'web-2' }, self)).toMatchObject({ id, name: 'web-2' });
});
