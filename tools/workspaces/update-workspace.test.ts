import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a workspace keeps what is not sent, and null takes a setting back', async () => {
  await using kit = await buildPeopleKit();
  await kit.haveSettings(kit.prod, { selfApproval: true });
  await kit.ada('update_workspace', { displayName: 'Production' });
  const updated = await kit.ada('update_workspace', { settings: { selfApproval: null } });
  expect(updated).toMatchObject({ id: kit.prod, slug: 'prod', displayName: 'Production' });
  expect(updated.settings).not.toHaveProperty('selfApproval');
});

test('a setting is of its kind, the number of peers is given by who administers the installation, and it needs members:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.ada('update_workspace', { settings: { requireApproval: 'yes' } }))).toBe(
    'invalid_input /settings/requireApproval',
  );
  expect(await refusalOf(kit.ada('update_workspace', { maxNodeCount: 9 }))).toBe('forbidden workspaces:write');
  expect(await refusalOf(kit.vic('update_workspace', { displayName: 'x' }))).toBe('forbidden members:write');
});
