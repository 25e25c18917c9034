import { expect, test } from 'vitest';
import { openCheckpoint } from '../../core/audit/checkpoint.ts';
import { noteKeysOf } from '../../core/audit/keep-checkpoints.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('any member is given the signed size and root of the log, and the same again while nothing was written', async () => {
  await using kit = await buildWorkspaceKit();
  const got = await kit.as('viewer')('get_audit_checkpoint');
  const { root, ...opened } =
    openCheckpoint(got.note, noteKeysOf(kit.services.keys.logs, kit.workspace)) ?? expect.fail();
  expect({ origin: opened.origin, size: opened.size, root: Buffer.from(root).toString('base64') }).toEqual({
    origin: got.origin,
    size: got.size,
    root: got.root,
  });
  expect(await kit.ask('get_audit_checkpoint')).toEqual(got);
  await kit.ask('create_policy', { name: 'base', spec: { action: 'DENY', peerSelector: {} } });
  expect((await kit.ask('get_audit_checkpoint')).size).toBeGreaterThan(got.size);
});

test('a device checks the log of its workspace, a token to join with does not', async () => {
  await using kit = await buildWorkspaceKit();
  const { workspace } = kit;
  const caller = kit.person('viewer', workspace);
  const ask = (kind: 'device' | 'enrolment') =>
    kit.call('get_audit_checkpoint', {}, { as: { ...caller, kind }, workspace });
  expect((await ask('device')).size).toBeGreaterThan(0);
  expect(await refusalOf(ask('enrolment'))).toBe('forbidden');
});

test('the log of the installation is for who is at home everywhere, and others have no log but their own', async () => {
  await using kit = await buildWorkspaceKit();
  const root = kit.person('platform_admin', kit.workspace);
  const installation = await kit.call('get_audit_checkpoint', {}, { as: root });
  expect(installation.origin).toBe(kit.services.keys.logs.originOf('w_system'));
  expect((await kit.foreign('get_audit_checkpoint')).origin).not.toContain(kit.workspace);
  const stranger = kit.person('admin', 'w_none');
  const asked = kit.call('get_audit_checkpoint', {}, { as: stranger, workspace: kit.workspace });
  expect(await refusalOf(asked)).toBe('not_found');
});
