import { expect, test } from 'vitest';
import { freshKey, oldKeyProofOf, proofOf } from '../../test/kits/plane/devices.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a device that changes its key gets another token, and the one that it had ends', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  const { publicKey } = freshKey();
  const rotated = await kit.call('rotate_device_key', { publicKey }, self);
  expect(rotated).toMatchObject({ id, publicKey });
  expect(await refusalOf(kit.call('get_own_device', {}, self))).toBe('unauthenticated');
  expect(await kit.call('get_own_device', {}, { bearer: rotated.deviceToken })).toMatchObject({ id, publicKey });
});

test('a key is 32 bytes and of one device alone, and only a device changes its own', async () => {
  await using kit = await buildWorkspaceKit();
  const { self } = await kit.join('web-1');
  const { key } = await kit.join('db-1');
  expect(await refusalOf(kit.call('rotate_device_key', { publicKey: 'AAAA' }, self))).toBe('invalid_input /publicKey');
  expect(await refusalOf(kit.call('rotate_device_key', { publicKey: key.publicKey }, self))).toBe('conflict');
  expect(await refusalOf(kit.ask('rotate_device_key', { publicKey: freshKey().publicKey }))).toBe('forbidden device');
});

test('a device that changes its key in a loop waits half a minute for each, and asks for the one that it has as often as it likes', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  const { publicKey } = freshKey();
  const first = await kit.call('rotate_device_key', { publicKey }, self);
  const own = { bearer: first.deviceToken };
  const refused = await kit.call('rotate_device_key', { publicKey: freshKey().publicKey }, own).catch((error) => error);
  expect(refused).toMatchObject({ code: 'rate_limited', details: { retryAfterSeconds: 30 } });
  const again = await kit.call('rotate_device_key', { publicKey }, own);
  expect(again).toMatchObject({ id, publicKey });
  kit.clock.time += 30_000;
  const next = freshKey();
  const asked = { publicKey: next.publicKey };
  expect(await kit.call('rotate_device_key', asked, { bearer: again.deviceToken })).toMatchObject({ id, ...asked });
});

/** A device of a workspace with requireApproval, and how it asks for another key. */
async function underApproval() {
  const kit = await buildWorkspaceKit();
  const device = await kit.join('web-1');
  await kit.ask('update_workspace', { settings: { requireApproval: true } });
  const { controlKey } = kit.services.keys;
  const { id, key, self } = device;
  const rotate = (input: object, by = self) => kit.call('rotate_device_key', { ...input }, by);
  return { ...kit, id, key, self, controlKey, rotate };
}

/** The device still has the key and the token that it had. */
async function expectOldKey({ call, id, key, self }: Awaited<ReturnType<typeof underApproval>>): Promise<void> {
  expect(await call('get_own_device', {}, self)).toMatchObject({ id, publicKey: key.publicKey });
}

test('under requireApproval a key that the old one does not prove waits, and the device goes on under the old one', async () => {
  await using kit = await underApproval();
  const { id, self, controlKey } = kit;
  const next = freshKey();
  const input = {
    publicKey: next.publicKey,
    proof: proofOf(next, id, controlKey),
    deviceToken: `mesh-dev-${'n'.repeat(43)}`,
  };
  const asked = await kit.rotate(input);
  expect(asked).toMatchObject({
    status: 'pending_approval',
    message: expect.stringContaining(`${next.publicKey} without a proof by its old key`),
  });
  await expectOldKey(kit);
  expect(await kit.rotate(input)).toEqual(asked);
  const shown = await kit.ask('get_workflow', { id: asked.workflow_id });
  expect(JSON.stringify(shown)).not.toContain(input.deviceToken);
  expect(shown.peers).toMatchObject([{ id, publicKey: kit.key.publicKey }]);
  await kit.ask('approve_workflow', { id: asked.workflow_id });
  await expectOldKey(kit);
  expect(await kit.rotate(input)).toMatchObject({ id, publicKey: next.publicKey, deviceToken: input.deviceToken });
  expect(await refusalOf(kit.call('get_own_device', {}, self))).toBe('unauthenticated');
});

test('a rejected key is never taken, and whoever has the token alone asks for one key at a time', async () => {
  await using kit = await underApproval();
  const asked = await kit.rotate({ publicKey: freshKey().publicKey });
  expect(await refusalOf(kit.rotate({ publicKey: freshKey().publicKey }))).toBe('rate_limited');
  await kit.ask('reject_workflow', { id: asked.workflow_id });
  await expectOldKey(kit);
});

test('a proof by another key than the present one, or for another key than the new one, is refused', async () => {
  await using kit = await underApproval();
  const { id, key, controlKey } = kit;
  const { publicKey } = freshKey();
  const wrong = [
    oldKeyProofOf(freshKey(), id, publicKey, controlKey),
    oldKeyProofOf(key, id, freshKey().publicKey, controlKey),
    oldKeyProofOf(key, 'p_another', publicKey, controlKey),
    proofOf(key, id, controlKey),
  ];
  for (const oldKeyProof of wrong) {
    expect(await refusalOf(kit.rotate({ publicKey, oldKeyProof }))).toBe('invalid_input /oldKeyProof');
  }
  await expectOldKey(kit);
});

test('the audit log says which keys no old key proved', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, key, self } = await kit.join('web-1');
  const next = freshKey();
  const first = await kit.call('rotate_device_key', { publicKey: next.publicKey }, self);
  kit.clock.time += 30_000;
  const { publicKey } = freshKey();
  const oldKeyProof = oldKeyProofOf(next, id, publicKey, kit.services.keys.controlKey);
  const stale = oldKeyProofOf(key, id, publicKey, kit.services.keys.controlKey);
  const own = { bearer: first.deviceToken };
  expect(await refusalOf(kit.call('rotate_device_key', { publicKey, oldKeyProof: stale }, own))).toContain('invalid');
  await kit.call('rotate_device_key', { publicKey, oldKeyProof }, own);
  const log = await kit.services.store.audit(kit.workspace, { limit: 10, kind: 'MeshPeer', name: 'web-1' });
  expect(log.map(({ commit }) => commit?.reason).filter((reason) => reason?.startsWith('rotated'))).toEqual([
    'rotated the key of web-1',
    'rotated the key of web-1, without a proof by its old key',
  ]);
});
