import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{}] };

test('a new policy says how many peers and rules it is about, and decides at once', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const made = await kit.ask('create_policy', { name: 'shut', spec: SHUT, labels: { team: 'a' } });
  expect(made).toMatchObject({
    spec: SHUT,
    labels: { team: 'a' },
    status: { matchedPeers: 2, ruleCount: 1, warnings: [] },
  });
  expect(await kit.ask('check_connectivity', { src: 'web-1', dst: 'db-1' })).toMatchObject({ verdict: 'unreachable' });
});

test('a policy needs a name that is free, a spec with an action, and a maker with network:write', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('create_policy', { name: 'shut', spec: SHUT });
  expect(await refusalOf(kit.ask('create_policy', { name: 'shut', spec: SHUT }))).toBe('conflict');
  expect(await refusalOf(kit.ask('create_policy', { spec: SHUT }))).toBe('invalid_input /name');
  expect(await refusalOf(kit.ask('create_policy', { name: 'p', spec: { peerSelector: {} } }))).toBe(
    'invalid_input /spec/action',
  );
  expect(await refusalOf(kit.as('viewer')('create_policy', { name: 'shut', spec: SHUT }))).toBe(
    'forbidden network:write',
  );
});
