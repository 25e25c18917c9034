import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('accounts are listed by name, page after page, without their passwords', async () => {
  await using kit = await buildPeopleKit();
  const first = await kit.root('list_users', { limit: 2 });
  expect(first.items).toMatchObject([{ username: 'ada' }, { username: 'admin', role: 'platform_admin' }]);
  const rest = await kit.root('list_users', { limit: 2, cursor: first.next_cursor });
  expect(rest).toEqual({ items: [expect.objectContaining({ username: 'vic' })] });
  expect(JSON.stringify([first, rest])).not.toContain('passwordHash');
});

test('a list of accounts takes no limit above 200, and needs users:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.root('list_users', { limit: 201 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.ada('list_users'))).toBe('forbidden users:write');
});
