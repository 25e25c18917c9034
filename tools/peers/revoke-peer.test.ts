import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a revoked peer has no way in any more, and is still listed', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, self } = await kit.join('web-1');
  expect(await kit.ask('revoke_peer', { id })).toMatchObject({ id, status: { phase: 'revoked' } });
  expect(await refusalOf(kit.call('get_own_graph', {}, self))).toBe('forbidden');
  expect((await kit.ask('list_peers', { phase: 'revoked' })).items).toMatchObject([{ id }]);
});

test('a peer is revoked where it is, by who has peers:approve', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await refusalOf(kit.ask('revoke_peer', { id: 'db-1' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('revoke_peer', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('revoke_peer', { id }))).toBe('forbidden peers:approve');
});
