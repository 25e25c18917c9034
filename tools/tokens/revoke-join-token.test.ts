import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('no further device joins with a revoked token, and those that did stay', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, token } = await kit.ask('generate_join_token', { name: 'web' });
  await kit.join('web-1', { token });
  expect(await kit.ask('revoke_join_token', { id })).toEqual({ revoked: true });
  expect(await refusalOf(kit.join('web-2', { token }))).toBe('unauthenticated');
  expect((await kit.ask('list_peers')).items).toMatchObject([{ name: 'web-1' }]);
});

test('a join token is revoked where it is, by who has tokens:write', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.ask('generate_join_token', { name: 'web' });
  expect(await refusalOf(kit.ask('revoke_join_token', { id: 'tok_none' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('revoke_join_token', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('revoke_join_token', { id }))).toBe('forbidden tokens:write');
});

test('a join token is revoked by its name, too, and never where several have that', async () => {
  await using kit = await buildWorkspaceKit();
  const names = async () => (await kit.ask('list_join_tokens')).items.map(({ name }: { name: string }) => name);
  for (const name of ['web', 'web', 'Build jobs']) await kit.ask('generate_join_token', { name });
  expect(await refusalOf(kit.ask('revoke_join_token', { id: 'web' }))).toBe('conflict');
  await kit.ask('revoke_join_token', { id: 'build jobs' });
  expect(await names()).toEqual(['web', 'web']);
});
