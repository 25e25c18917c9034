import { expect, test } from 'vitest';
import { buildKit, person } from '../../test/kits/plane/kit.ts';
import { seedPeers } from '../../test/kits/records/seed-peers.ts';

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

const OPEN = {
  action: 'ALLOW',
  peerSelector: { matchLabels: { role: 'db' } },
  ingress: [{ from: [{ ipBlock: { cidr: '203.0.113.0/24' } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
};
const CLOSED = { action: 'DENY', peerSelector: {} };

test('an agent opens a range of addresses to a peer in its reach with a person only, by whichever change', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace('prod');
  await seedPeers(kit.services, workspace, { 'db-1': { role: 'db' }, 'web-1': { role: 'web' } });
  const as = person('admin', workspace);
  const admin = { as, workspace };
  await kit.call('create_policy', { name: 'closed', spec: CLOSED }, admin);
  const web = { ...OPEN, peerSelector: { matchLabels: { role: 'web' } } };
  await kit.call('create_policy', { name: 'web', spec: web }, admin);
  const scopes = ['network:read', 'network:write'];
  const reach = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }];
  const { token } = await kit.call('create_agent', { name: 'root', scopes, reach }, admin);
  const waits = { status: 'pending_approval' };
  expect(await kit.call('create_policy', { name: 'in', spec: OPEN }, { bearer: token })).toMatchObject(waits);
  const wider = { ...web, ingress: [{ from: [{ ipBlock: { cidr: '203.0.112.0/23' } }] }] };
  expect(await kit.call('update_policy', { id: 'web', spec: wider }, { bearer: token })).toMatchObject(waits);
});
