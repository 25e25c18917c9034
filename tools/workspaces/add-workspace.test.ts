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

test('a later workspace takes the next free block of the size it needs, or the block that is named', async () => {
  await using kit = await buildPeopleKit();
  const add = async (slug: string, more: object) => {
    const asked = { slug, namespace: slug, displayName: slug, maxNodeCount: 10, ...more };
    const { id } = await kit.root('add_workspace', asked);
    const call = { bearer: await kit.admin(), workspace: id };
    const { items } = (await kit.call({ name: 'list_networks' }, {}, call)) as { items: { spec: { cidr: string } }[] };
    return items[0]?.spec.cidr;
  };
  expect(await add('a', {})).toBe('10.96.0.0/24');
  expect(await add('b', { cidr: 'next-free' })).toBe('10.200.0.0/24');
  expect(await add('c', { cidr: 'next-free', maxNodeCount: 1_000 })).toBe('10.200.4.0/22');
  expect(await add('d', { cidr: '10.9.0.0/16' })).toBe('10.9.0.0/16');
  const wrong = { slug: 'e', namespace: 'e', displayName: 'e', maxNodeCount: 10, cidr: 'any' };
  expect(await refusalOf(kit.root('add_workspace', wrong))).toBe('invalid_input /cidr');
});

test('a workspace needs a slug that is free and can be one, and a maker with workspaces:write', async () => {
  await using kit = await buildPeopleKit();
  const lab = { slug: 'lab', namespace: 'lab', displayName: 'Lab', maxNodeCount: 10 };
  expect(await refusalOf(kit.root('add_workspace', { ...lab, slug: 'prod' }))).toBe('conflict');
  expect(await refusalOf(kit.root('add_workspace', { ...lab, slug: 'A B' }))).toBe('invalid_input /slug');
  expect(await refusalOf(kit.root('add_workspace', { ...lab, maxNodeCount: 0 }))).toBe('invalid_input /maxNodeCount');
  expect(await refusalOf(kit.ada('add_workspace', lab))).toBe('forbidden workspaces:write');
});
