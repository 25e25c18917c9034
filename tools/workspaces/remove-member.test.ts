import { expect, test } from 'vitest';
import { endOrphans } from '../../core/identity/offboard.ts';
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

test('an agent that the control plane ends by itself at the moment of the removal is among those that ended', async () => {
  await using kit = await buildPeopleKit();
  await kit.ada('set_member', { username: 'vic', role: 'admin' });
  await kit.vic('create_agent', { name: 'planner' });
  const why = { actor: 'system:people', reason: 'a test', requestId: 'r_1' };
  const jobs: Promise<string[]>[] = [];
  const stop = kit.services.store.onCommit(({ workspace, changes }) => {
    const hasLeft = changes.some(({ type, record }) => type === 'deleted' && record.kind === 'Member');
    if (hasLeft) jobs.push(endOrphans(kit.services, workspace, why));
  });
  const removed = await kit.ada('remove_member', { username: 'vic' });
  stop();
  expect([removed.endedAgents, await Promise.all(jobs)]).toEqual([['planner'], [['planner']]]);
});
