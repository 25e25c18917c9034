import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('what would end with an agent is said before it ends, and is the same as what ends then', async () => {
  await using kit = await buildWorkspaceKit();
  const { token } = await kit.ask('create_agent', { name: 'planner' });
  const worker = { id: 'self', subAgentName: 'worker', ttl: '30m', policyPreset: 'inherit' };
  await kit.call('delegate_agent', worker, { bearer: token });
  const would = await kit.ask('revoke_agent', { id: 'planner', dryRun: true });
  expect(would).toMatchObject({ revoked: ['planner', 'worker'], peers: [], policies: [], dryRun: true });
  expect(await kit.call('get_agent', { id: 'self' }, { bearer: token })).toMatchObject({ phase: 'Active' });
  const { effect: _, ...lists } = would;
  expect(await kit.ask('revoke_agent', { id: 'planner' })).toEqual({ ...lists, dryRun: false });
  expect(await refusalOf(kit.call('get_agent', { id: 'self' }, { bearer: token }))).toBe('unauthenticated');
});

test('an agent is revoked where it is, by who has agents:write', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_agent', { name: 'planner' });
  expect(await refusalOf(kit.ask('revoke_agent', { id: 'none' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('revoke_agent', { id: 'planner' }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('revoke_agent', { id: 'planner' }))).toBe('forbidden agents:write');
});
