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

test('who may list accounts is told which members count as approvers, and nobody else', async () => {
  await using kit = await buildPeopleKit();
  await kit.ada('set_member', { username: 'nobody', role: 'operator' });
  const bearer = await kit.admin();
  const asAdmin = await kit.call({ name: 'list_members' }, {}, { bearer, workspace: kit.prod });
  expect(asAdmin['items']).toMatchObject([
    { username: 'ada', countsAsApprover: true },
    { username: 'nobody', countsAsApprover: false },
    { username: 'vic', countsAsApprover: false },
  ]);
  const { items } = await kit.ada('list_members');
  expect(items.filter((item: object) => Object.hasOwn(item, 'countsAsApprover'))).toEqual([]);
});
