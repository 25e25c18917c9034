import { expect, test } from 'vitest';
import { buildKit, person } from '../../test/kit.ts';
import { seedPeers } from '../../test/seed-peers.ts';

const SHUT = { action: 'DENY', peerSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '203.0.113.0/24' } }] }] };

test('an agent that shut out addresses outside of the network lets them in again with a person only', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace('prod');
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' } });
  const as = person('admin', workspace);
  const scopes = ['network:read', 'network:write'];
  const { token } = await kit.call('create_agent', { name: 'root', scopes, reach: [] }, { as, workspace });
  expect(await kit.call('create_policy', { name: 'shut', spec: SHUT }, { bearer: token })).toMatchObject({
    name: 'shut',
  });
  expect(await kit.call('delete_policy', { id: 'shut' }, { bearer: token })).toMatchObject({
    status: 'pending_approval',
  });
});
