import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { agent } from '../../test/kits/plane/kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a member sees their workspaces, and who administers the installation all of them', async () => {
  await using kit = await buildPeopleKit();
  await kit.workspace('lab');
  const slugs = ({ items }: { items: { slug: string }[] }) => items.map(({ slug }) => slug);
  expect(slugs(await kit.vic('list_workspaces'))).toEqual(['prod']);
  expect(slugs(await kit.root('list_workspaces'))).toEqual(['lab', 'prod']);
  expect(await kit.root('list_workspaces', { limit: 1 })).toMatchObject({ next_cursor: 'lab' });
});

test('a list of workspaces takes no limit above 200, and needs an account', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.ada('list_workspaces', { limit: 201 }))).toBe('invalid_input /limit');
  expect(
    await refusalOf(
      kit.call({ name: 'list_workspaces' }, {}, { as: agent(['network:read'], kit.prod), workspace: kit.prod }),
    ),
  ).toBe('forbidden person');
});
