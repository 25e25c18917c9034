import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';

const OPEN = { action: 'ALLOW', peerSelector: {}, ingress: [{}] };
const SHUT = { ...OPEN, action: 'DENY' };
const PASSWORD = 'a long one of nobody else';

/** A kit whose disk is as full as a test says, with an account that administers the installation and one without rights. */
async function buildDiskKit() {
  const disk = { left: 1 };
  const kit = await buildWorkspaceKit({ left: () => disk.left });
  for (const [username, role] of [
    ['root', 'platform_admin'],
    ['mallory', 'user'],
  ]) {
    await kit.call('create_user', { username, password: PASSWORD, role }, { as: kit.person('platform_admin', '') });
  }
  const logIn = (username: string, password = PASSWORD) => kit.call('log_in', { username, password });
  const entries = () => kit.services.store.auditTree(SYSTEM_WORKSPACE).size();
  return { ...kit, disk, logIn, entries };
}

test('while the disk fills, new records are refused first, then changes of those that are there, and deletions never', async () => {
  await using kit = await buildDiskKit();
  const { disk } = kit;
  await kit.ask('create_policy', { name: 'open', spec: OPEN });
  disk.left = 0.9;
  expect(await refusalOf(kit.ask('create_policy', { name: 'more', spec: OPEN }))).toBe('storage_full');
  expect(await kit.ask('update_policy', { id: 'open', spec: SHUT })).toMatchObject({ spec: { action: 'DENY' } });
  disk.left = 0.4;
  expect(await refusalOf(kit.ask('update_policy', { id: 'open', spec: OPEN }))).toBe('storage_full');
  disk.left = 0;
  await kit.ask('delete_policy', { id: 'open' });
  expect((await kit.ask('list_policies')).items).toEqual([]);
});

test('the last quarter of the reserve is for those who can make room: others log in no more, and write nothing by trying', async () => {
  await using kit = await buildDiskKit();
  const { disk, logIn, entries } = kit;
  const { id } = await kit.join('web-1');
  disk.left = 0.3;
  await logIn('mallory');
  disk.left = 0.2;
  const before = await entries();
  expect(await refusalOf(logIn('mallory'))).toBe('storage_full');
  expect(await refusalOf(logIn('mallory', 'not it'))).toBe('unauthenticated');
  expect(await refusalOf(logIn('nobody'))).toBe('unauthenticated');
  expect(await entries()).toBe(before);
  expect(await logIn('root')).toMatchObject({ token: expect.any(String) });
  expect(await kit.ask('revoke_peer', { id })).toMatchObject({ status: { phase: 'revoked' } });
  await kit.ask('delete_peer', { id });
});

test('refusals are counted while the last quarter of the reserve is left, and written once there is room', async () => {
  await using kit = await buildDiskKit();
  const { disk, logIn, entries } = kit;
  disk.left = 0.2;
  const before = await entries();
  for (let count = 0; count < 3; count += 1) {
    expect(await refusalOf(logIn('nobody'))).toBe('unauthenticated');
    await kit.gate.flushRefusals();
  }
  expect(await entries()).toBe(before);
  disk.left = 0.3;
  await kit.gate.flushRefusals();
  const [{ event } = {}] = await kit.services.store.audit(SYSTEM_WORKSPACE, { type: 'event', limit: 1 });
  expect(event).toMatchObject({ type: 'refused', detail: { operation: 'log_in', code: 'unauthenticated', count: 3 } });
});
