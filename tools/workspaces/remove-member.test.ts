import { expect, test } from 'vitest';
import { buildPeopleKit } from '../../test/kits/plane/identity-kit.ts';
import { refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('who is no member any more does not find the workspace, and their agents end', async () => {
  await using kit = await buildPeopleKit();
  await kit.ada('set_member', { username: 'vic', role: 'admin' });
  await kit.vic('create_agent', { name: 'planner' });
  expect(await kit.ada('remove_member', { username: 'vic' })).toEqual({ removed: true, endedAgents: ['planner'] });
  expect(await refusalOf(kit.vic('get_workspace'))).toBe('not_found');
});

test('who is no member is not removed, and removing one needs members:write', async () => {
  await using kit = await buildPeopleKit();
  expect(await refusalOf(kit.ada('remove_member', { username: 'nobody' }))).toBe('not_found');
  expect(await refusalOf(kit.vic('remove_member', { username: 'ada' }))).toBe('forbidden members:write');
});
