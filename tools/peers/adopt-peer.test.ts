import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('an ordinary peer that is adopted stays what it is, and nothing opens', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await kit.ask('adopt_peer', { id, dryRun: true })).toMatchObject({
    peer: { id, delegatedBy: null },
    effect: { opened: [], closed: [] },
    dryRun: true,
  });
});

test('a peer is adopted where it is, by a signed-in person with peers:approve', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.join('web-1');
  expect(await refusalOf(kit.ask('adopt_peer', { id: 'db-1' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('adopt_peer', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('adopt_peer', { id }))).toBe('forbidden peers:approve');
  expect(await refusalOf(kit.holding('network:read', 'peers:approve')('adopt_peer', { id }))).toBe('forbidden');
});

test('the device of an agent that took the name of another is adopted by its id alone', async () => {
  await using kit = await buildWorkspaceKit();
  const scopes = ['network:read', 'tokens:write'];
  const root = await kit.ask('create_agent', { name: 'root', scopes });
  const { token } = await kit.call('generate_join_token', { name: 'own', usageLimit: 2 }, { bearer: root.token });
  const first = await kit.join('runner', { token });
  await kit.call('leave_network', {}, first.self);
  const { id } = await kit.join('runner', { token });
  expect(await refusalOf(kit.ask('adopt_peer', { id: 'runner' }))).toBe('conflict');
  expect((await kit.ask('adopt_peer', { id })).peer).toMatchObject({ id, delegatedBy: null });
});
