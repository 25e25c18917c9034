import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a pair that policy lets talk is reachable on every port, one that it does not is on none, with the policy', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  const pair = { src: 'web-1', dst: 'db-1' };
  expect(await kit.ask('check_connectivity', pair)).toMatchObject({ verdict: 'reachable', allowed: 'ALL' });
  await kit.ask('create_policy', { name: 'shut', spec: { action: 'DENY', peerSelector: {}, ingress: [{}] } });
  const shut = await kit.ask('check_connectivity', pair);
  expect(shut).toMatchObject({ verdict: 'unreachable', allowed: [], blocked_by: [{ policy: 'shut' }] });
});

test('a question needs peers that there are, a port that can be, and network:read', async () => {
  await using kit = await buildWorkspaceKit();
  for (const name of ['web-1', 'db-1']) await kit.join(name);
  expect(await refusalOf(kit.ask('check_connectivity', { src: 'web-1', dst: 'db-2' }))).toBe('not_found');
  expect(await refusalOf(kit.ask('check_connectivity', { src: 'web-1', dst: 'db-1', port: 0 }))).toBe(
    'invalid_input /port',
  );
  const ping = { src: 'web-1', dst: 'db-1', protocol: 'ICMP', port: 22 };
  expect(await refusalOf(kit.ask('check_connectivity', ping))).toBe('invalid_input /port');
  expect(await refusalOf(kit.ask('check_connectivity', { src: 'web-1', dst: 'db-1', cursor: 'x' }))).toBe(
    'invalid_input /cursor',
  );
  expect(await refusalOf(kit.holding()('check_connectivity', { src: 'web-1', dst: 'db-1' }))).toBe(
    'forbidden network:read',
  );
});
