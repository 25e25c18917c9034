import { expect, test } from 'vitest';
import { memberDraft } from '../../core/identity/members.ts';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a new network has its block, and as many free addresses as that holds', async () => {
  await using kit = await buildWorkspaceKit();
  const made = await kit.ask('create_network', { name: 'my lab', spec: { cidr: '10.97.0.0/30' } });
  expect(made).toMatchObject({ name: 'my-lab', spec: { cidr: '10.97.0.0/30', mtu: 1280, defaultAction: 'ALLOW' } });
  expect(made.status).toEqual({ peers: 0, allocated: 0, available: 2 });
});

test('a network needs a name, a block that no other has, and a maker with network:write', async () => {
  await using kit = await buildWorkspaceKit();
  const make = (raw: Record<string, unknown>) => kit.ask('create_network', raw);
  expect(await refusalOf(make({ name: 'lab' }))).toBe('invalid_input /spec');
  expect(await refusalOf(make({ spec: { cidr: '10.97.0.0/24' } }))).toBe('invalid_input /name');
  expect(await refusalOf(make({ name: 'lab', spec: { cidr: '10.97.0.1/24' } }))).toBe('invalid_input /spec/cidr');
  expect(await refusalOf(make({ name: 'DEFAULT', spec: { cidr: '10.97.0.0/24' } }))).toBe('conflict');
  expect(await refusalOf(kit.as('viewer')('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } }))).toBe(
    'forbidden network:write',
  );
});

test.each([
  ['0.128.0.0/10', 'this host'],
  ['127.77.0.0/16', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['192.0.2.0/24', 'documentation'],
  ['198.51.100.0/24', 'documentation'],
  ['203.0.112.0/22', 'documentation'],
  ['198.18.0.0/16', 'benchmarks'],
  ['239.0.0.0/16', 'multicast'],
  ['240.0.0.0/10', 'future use'],
])('the block %s is reserved and no network has it, whoever asks', async (cidr, use) => {
  await using kit = await buildWorkspaceKit();
  const made = kit.ask('create_network', { name: 'odd', spec: { cidr } });
  await expect(made).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(use) });
  expect((await kit.ask('list_networks')).items).toHaveLength(1);
});

test.each(['10.97.0.0/24', '172.16.8.0/24', '192.168.7.0/24', '100.64.0.0/16'])(
  'the private block %s is for whoever may write networks',
  async (cidr) => {
    await using kit = await buildWorkspaceKit();
    const make = kit.as('operator');
    expect(await make('create_network', { name: 'lab', spec: { cidr } })).toMatchObject({ spec: { cidr } });
  },
);

test('no network holds an address by which nodes reach their control plane, bus, relay or STUN server', async () => {
  await using kit = await buildWorkspaceKit();
  Object.assign(kit.services.settings, {
    publicUrls: ['https://10.10.0.1', 'https://mesh.example.com'],
    signalingUrl: 'nats://10.20.0.1:4222',
    relays: [{ name: 'main', url: 'lrps://10.30.0.1:6266' }],
    stunUrls: ['10.40.0.1:3478'],
  });
  for (const held of ['10.10.0.1', '10.20.0.1', '10.30.0.1', '10.40.0.1']) {
    const cidr = held.replace(/1$/, '0/24');
    const made = kit.ask('create_network', { name: 'lab', spec: { cidr } });
    await expect(made, cidr).rejects.toMatchObject({ code: 'invalid_input', message: expect.stringContaining(held) });
  }
  expect(await kit.ask('create_network', { name: 'lab', spec: { cidr: '10.50.0.0/24' } })).toMatchObject({
    name: 'lab',
  });
});

const PUBLIC = { name: 'wide', spec: { cidr: '8.8.8.0/24' } };

test('a public block that an operator asks for waits for a platform administrator, named first and with a high risk', async () => {
  await using kit = await buildWorkspaceKit();
  const asked = await kit.as('operator')('create_network', PUBLIC);
  expect(asked).toMatchObject({ status: 'pending_approval' });
  const id = asked.workflow_id as string;
  const shown = await kit.ask('get_workflow', { id });
  expect(shown.summary).toMatch(/^Adds the network wide with the public block 8\.8\.8\.0\/24; opens nothing/);
  expect(shown.diffMarkdown).toMatch(/^# Adds the network wide with the public block 8\.8\.8\.0/);
  expect(shown).toMatchObject({
    riskLevel: 'high',
    riskReasons: [expect.stringContaining('8.8.8.0/24')],
    effect: { routes: [{ network: 'wide', block: '8.8.8.0/24', block_before: null, peers: 0, is_public: true }] },
  });
  expect(await refusalOf(kit.as('operator')('approve_workflow', { id }))).toBe('forbidden');
  expect(await refusalOf(kit.as('admin')('approve_workflow', { id }))).toBe('forbidden');
  expect((await kit.ask('list_networks')).items).toHaveLength(1);
  const approve = kit.as('platform_admin');
  expect(await approve('approve_workflow', { id })).toMatchObject({ status: 'executed' });
  expect(await kit.ask('get_network', { id: 'wide' })).toMatchObject(PUBLIC);
});

test('a platform administrator makes a network with a public block at once', async () => {
  await using kit = await buildWorkspaceKit();
  expect(await kit.as('platform_admin')('create_network', PUBLIC)).toMatchObject(PUBLIC);
});

test('no plan with a public block is carried out by itself, and an API token of an administrator makes none', async () => {
  await using kit = await buildWorkspaceKit();
  const context = { actor: 'system:test', reason: 'a person who may approve', requestId: 'r' };
  await kit.services.store.commit(kit.workspace, [{ op: 'create', record: memberDraft('olga', 'operator') }], context);
  await kit.join('web-1');
  await kit.join('web-2');
  const settings = { autoApprove: { maxRisk: 'critical' } };
  await kit.ask('update_workspace', { settings });
  const changes = [{ action: 'create', resource: 'MeshNetwork', ...PUBLIC }];
  const expectations = [{ src: 'web-1', dst: 'web-2', protocol: 'TCP', port: 1, expect: 'allow' }];
  const plan = await kit.as('operator')('plan_network_change', { intent: 'a network', changes, expectations });
  expect(plan).toMatchObject({ expectations_hold: true, another_person: true });
  const { workflow_id: id } = await kit.as('operator')('apply_network_change', {
    ...{ plan_id: plan.plan_id, approved_by: 'olga' },
  });
  expect(await kit.ask('get_workflow', { id })).toMatchObject({ status: 'pending' });
  const asked = await kit.holding('network:read', 'network:write')('create_network', { ...PUBLIC, name: 'wide-2' });
  expect(asked).toMatchObject({ status: 'pending_approval' });
});
