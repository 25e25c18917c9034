import { expect, test } from 'vitest';
import { entityTagOf } from '../../core/state/expecting.ts';
import { freshKey } from '../../test/kits/plane/devices.ts';
import { person } from '../../test/kits/plane/kit.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a revoked peer that is approved is ready again, and says who let it in', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  await kit.ask('revoke_peer', { id });
  const { status } = await kit.ask('approve_peer', { id });
  expect(status).toMatchObject({ phase: 'ready', address: expect.any(String), approvedBy: 'user:admin' });
});

test('a peer is approved where it is, by who has peers:approve', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await refusalOf(kit.ask('approve_peer', { id: 'db-1' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('approve_peer', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('approve_peer', { id }))).toBe('forbidden peers:approve');
});

const DAY_MS = 24 * 3_600_000;

/** A workspace in which the pending device laptop left, and another registered under its name. */
async function replaced(key = freshKey()) {
  const kit = await buildWorkspaceKit();
  await kit.ask('update_workspace', { settings: { requirePeerApproval: true } });
  const first = await kit.join('laptop', { key });
  kit.clock.time += 1_000;
  await kit.call('leave_network', {}, first.self);
  return { ...kit, first };
}

test('a device that took the name of another is not approved by the bare name, and the refusal names both keys', async () => {
  await using kit = await replaced();
  const { id, key } = await kit.join('Laptop');
  for (const name of ['laptop', 'LAPTOP']) {
    await expect(kit.ask('approve_peer', { id: name })).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(kit.first.key.publicKey),
      details: {
        bearer: { id, publicKey: key.publicKey, revision: expect.any(Number) },
        former: [{ id: kit.first.id, publicKey: kit.first.key.publicKey, until: expect.any(String) }],
      },
    });
  }
  expect((await kit.ask('get_peer', { id })).status.phase).toBe('pending');
  expect((await kit.ask('approve_peer', { id })).status.phase).toBe('ready');
});

test('it is approved by the name with the revision that the approver read', async () => {
  await using kit = await replaced();
  await kit.join('laptop');
  const { revision } = await kit.ask('get_peer', { id: 'laptop' });
  expect((await kit.ask('approve_peer', { id: 'laptop', revision })).status.phase).toBe('ready');
});

test('an If-Match of any version says nothing about what the approver read, and its tag does', async () => {
  await using kit = await replaced();
  await kit.join('laptop');
  const { id, revision } = await kit.ask('get_peer', { id: 'laptop' });
  const { workspace } = kit;
  const approve = (ifMatch: readonly string[] | 'any') =>
    kit.call('approve_peer', { id: 'laptop' }, { as: person('admin', workspace), workspace, ifMatch });
  expect(await refusalOf(approve('any'))).toBe('conflict');
  expect((await approve([entityTagOf(id, revision)])).status.phase).toBe('ready');
});

test('a device that changed its key is not let in again by its bare name within 30 days', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, key, self } = await kit.join('laptop');
  kit.clock.time += 60_000;
  const { publicKey } = freshKey();
  await kit.call('rotate_device_key', { publicKey }, self);
  await kit.ask('revoke_peer', { id });
  await expect(kit.ask('approve_peer', { id: 'laptop' })).rejects.toMatchObject({
    code: 'conflict',
    details: { bearer: { id, publicKey }, former: [{ id, publicKey: key.publicKey, until: expect.any(String) }] },
  });
  kit.clock.time += 30 * DAY_MS;
  expect((await kit.ask('approve_peer', { id: 'laptop' })).status.phase).toBe('ready');
});

test('a device that registers again with its key is approved by its name', async () => {
  const key = freshKey();
  await using kit = await replaced(key);
  await kit.join('laptop', { key });
  expect((await kit.ask('approve_peer', { id: 'laptop' })).status.phase).toBe('ready');
});

test('a name is free again for its next bearer after 30 days', async () => {
  await using kit = await replaced();
  await kit.join('laptop');
  kit.clock.time += 30 * DAY_MS - 1_000;
  expect(await refusalOf(kit.ask('approve_peer', { id: 'laptop' }))).toBe('conflict');
  kit.clock.time += 1_000;
  expect((await kit.ask('approve_peer', { id: 'laptop' })).status.phase).toBe('ready');
});

test('no device registers under the id of one that left', async () => {
  await using kit = await replaced();
  expect(await refusalOf(kit.join(kit.first.id))).toBe('invalid_input /name');
  expect(await refusalOf(kit.ask('approve_peer', { id: kit.first.id }))).toBe('not_found');
});
