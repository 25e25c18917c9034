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
