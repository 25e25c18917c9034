import { expect, test } from 'vitest';
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
