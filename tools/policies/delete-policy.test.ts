import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };

test('a deleted policy is answered by its name and decides nothing any more', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const { id } = await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  expect(await kit.ask('delete_policy', { id })).toEqual({ deleted: 'shut' });
  expect(await kit.ask('check_connectivity', { src: 'web-1', dst: 'db-1' })).toMatchObject({ verdict: 'reachable' });
});

test('a policy is deleted where it is, as it was seen, by who has network:write', async () => {
  await using kit = await buildWorkspaceKit();
  const { id, revision } = await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  expect(await refusalOf(kit.ask('delete_policy', { id, revision: revision - 1 }))).toBe('conflict');
  expect(await refusalOf(kit.ask('delete_policy', { id: 'open' }))).toBe('not_found');
  expect(await refusalOf(kit.foreign('delete_policy', { id }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('delete_policy', { id }))).toBe('forbidden network:write');
});
