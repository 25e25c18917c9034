import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a member reads the workspace with its settings', async () => {
  await using kit = await buildPeopleKit();
  expect(await kit.vic('get_workspace')).toMatchObject({ id: kit.prod, slug: 'prod', maxNodeCount: 250 });
});

test('who is no member of a workspace does not learn that there is one', async () => {
  await using kit = await buildPeopleKit();
  const elsewhere = await kit.workspace('lab');
  const bearer = await kit.person('bob', 'admin', elsewhere);
  expect(await refusalOf(kit.call({ name: 'get_workspace' }, {}, { bearer, workspace: kit.prod }))).toBe('not_found');
  expect(await refusalOf(kit.call({ name: 'get_workspace' }, {}, { bearer, workspace: 'none' }))).toBe('not_found');
  expect(await refusalOf(kit.vic('get_workspace', { of: 'lab' }))).toBe('invalid_input /of');
});
