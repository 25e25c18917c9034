import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };

test('a policy is found by id and by name, as it was written', async () => {
  await using kit = await buildWorkspaceKit();
  const made = await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  expect(await kit.ask('get_policy', { id: made.id })).toEqual(made);
  expect(await kit.ask('get_policy', { id: 'Shut' })).toMatchObject({ spec: SHUT, status: { matchedPeers: 0 } });
});

test('a policy of another workspace is unknown, and reading one needs network:read', async () => {
  await using kit = await buildWorkspaceKit();
  const { id } = await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  expect(await refusalOf(kit.foreign('get_policy', { id }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('get_policy', { id }))).toBe('forbidden network:read');
});
