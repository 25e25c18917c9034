import { expect, test } from 'vitest';
import { enrol, join } from './kits/plane/devices.ts';
import { buildKit, person } from './kits/plane/kit.ts';

const DB = [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }];

test('an agent that takes its own peer away gives its sub-agents no more than it had', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace('prod');
  const as = person('admin', workspace);
  const { token } = await kit.call('generate_join_token', { name: 'db', labels: { role: 'db' } }, { as, workspace });
  await join(kit, workspace, 'db-1', { token });
  const scopes = ['network:read', 'agents:delegate'];
  const root = await kit.call('create_agent', { name: 'root', scopes, reach: DB }, { as, workspace });
  const delegated = async (bearer: string, name: string, egress: unknown[]) => {
    const request = { id: 'self', subAgentName: name, ttl: '1h', policyPreset: 'sandboxed', scopes, egress };
    const { enrollmentToken } = await kit.call('delegate_agent', request, { bearer });
    return enrol(kit, enrollmentToken, name);
  };
  const child = await delegated(root.token, 'child', []);
  await kit.call('leave_network', {}, { bearer: child.deviceToken });
  await delegated(child.agentToken, 'grandchild', DB);
  const asked = { src: 'grandchild', dst: 'db-1', protocol: 'TCP', port: 5432 };
  expect(await kit.call('check_connectivity', asked, { as, workspace })).toMatchObject({ verdict: 'unreachable' });
});
