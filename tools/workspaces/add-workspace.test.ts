import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a new workspace has its default network, and its maker is a member of it', async () => {
  await using kit = await buildPeopleKit();
  const made = await kit.root('add_workspace', { slug: 'lab', namespace: 'lab', displayName: 'Lab', maxNodeCount: 10 });
  expect(made).toMatchObject({ slug: 'lab', namespace: 'lab', displayName: 'Lab', maxNodeCount: 10 });
  const asked = { bearer: await kit.admin(), workspace: made.id };
  expect(await kit.call({ name: 'list_networks' }, {}, asked)).toMatchObject({ items: [{ name: 'default' }] });
  expect(await kit.call({ name: 'list_members' }, {}, asked)).toMatchObject({ items: [{ username: 'admin' }] });
});

test('a workspace needs a slug that is free and can be one, and a maker with workspaces:write', async () => {
  await using kit = await buildPeopleKit();
  const lab = { slug: 'lab', namespace: 'lab', displayName: 'Lab', maxNodeCount: 10 };
  expect(await refusalOf(kit.root('add_workspace', { ...lab, slug: 'prod' }))).toBe('conflict');
  expect(await refusalOf(kit.root('add_workspace', { ...lab, slug: 'A B' }))).toBe('invalid_input /slug');
  expect(await refusalOf(kit.root('add_workspace', { ...lab, maxNodeCount: 0 }))).toBe('invalid_input /maxNodeCount');
  expect(await refusalOf(kit.ada('add_workspace', lab))).toBe('forbidden workspaces:write');
});
