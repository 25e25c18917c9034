import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('members are listed by name with their roles, page after page', async () => {
  await using kit = await buildPeopleKit();
  const first = await kit.vic('list_members', { limit: 1 });
  expect(first.items).toMatchObject([{ username: 'ada', role: 'admin' }]);
  const rest = await kit.vic('list_members', { cursor: first.next_cursor });
  expect(rest).toEqual({ items: [expect.objectContaining({ username: 'vic', role: 'viewer' })] });
});

test('a list of members takes no limit above 200, and is for members alone', async () => {
  await using kit = await buildPeopleKit();
  const bearer = await kit.person('bob');
  expect(await refusalOf(kit.ada('list_members', { limit: 201 }))).toBe('invalid_input /limit');
  expect(await refusalOf(kit.call({ name: 'list_members' }, {}, { bearer, workspace: kit.prod }))).toBe('not_found');
});
