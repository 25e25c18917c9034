import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('join tokens are listed with their uses and without their secrets', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, token } = await kit.ask('generate_join_token', { name: 'web' });
  await kit.join('web-1', { token });
  const listed = await kit.ask('list_join_tokens');
  expect(listed.items).toMatchObject([{ id, name: 'web', usedCount: 1, joined: ['web-1'] }]);
  expect(JSON.stringify(listed)).not.toContain(token);
  expect(await kit.foreign('list_join_tokens')).toEqual({ items: [] });
});

test('who may not read the network is not told which devices joined', async () => {
  await using kit = await buildWorkspaceKit();
  const { token } = await kit.ask('generate_join_token', { name: 'web' });
  await kit.join('web-1', { token });
  const caller = kit.person('admin', kit.workspace);
  const as = { ...caller, scopesIn: () => new Set(['tokens:write'] as const) };
  const { items } = await kit.call('list_join_tokens', {}, { as, workspace: kit.workspace });
  expect(items).toMatchObject([{ name: 'web', usedCount: 1 }]);
  expect(items[0]).not.toHaveProperty('joined');
});

test('a list of join tokens takes no limit above 200, and needs tokens:write', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await refusalOf(kit.ask('list_join_tokens', { limit: 201 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.as('viewer')('list_join_tokens'))).toBe('forbidden tokens:write');
});
