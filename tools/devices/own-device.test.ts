import { expect, test } from 'vitest';
import { networkJobs } from '../../core/peers/jobs.ts';
import { freshKey, join } from '../../test/kits/plane/devices.ts';
import { buildKit, type Kit, person } from '../../test/kits/plane/kit.ts';

const SECOND = 1_000;

async function withPolicy(kit: Kit, workspace: string, name: string, spec: unknown, fields = {}): Promise<void> {
  await kit.call('create_policy', { name, spec, ...fields }, { as: person('operator', workspace), workspace });
}

function sweep(kit: Kit): Promise<unknown> {
  return Promise.all(networkJobs(kit.services).map((job) => job.run()));
}

test('a graph holds the neighbours and the rules between them, and neither labels nor policies', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const web = await join(kit, workspace, 'web');
  const db = await join(kit, workspace, 'db');
  const graph = await kit.call('get_own_graph', {}, web.self);
  const { revision } = await kit.services.states.current(workspace);
  const all = { cidr: '10.96.0.2/32', protocol: 'ALL' };
  expect(graph).toEqual({
    kind: 'full',
    epoch: kit.services.nodeAccess.graphEpoch,
    version: revision,
    reason: 'requested',
    self: {
      id: web.id,
      name: 'web',
      address: '10.96.0.1',
      cidr: '10.96.0.0/24',
      phase: 'ready',
      workspace: expect.any(String),
    },
    peers: [
      {
        id: db.id,
        name: 'db',
        publicKey: db.key.publicKey,
        address: '10.96.0.2',
        allowedIps: ['10.96.0.2/32'],
      },
    ],
    firewall: { digest: expect.stringMatching(/^[0-9a-f]{64}$/), full: { in: [all], out: [all] } },
    relay: {
      url: '127.0.0.1:6266',
      credential: graph.relay.credential,
      address: `lrp://${graph.relay.credential}@127.0.0.1:6266`,
      expiresAt: '2026-01-06T12:00:00.000Z',
    },
    stun: ['127.0.0.1:3478'],
    checkpoint: null,
  });
});

test('a peer with which nothing is allowed is not in the graph, and one direction is enough to be in it', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const web = await join(kit, workspace, 'web');
  const db = await join(kit, workspace, 'db');
  const as = person('operator', workspace);
  await kit.call('update_peer', { id: 'db', labels: { role: 'db' } }, { as, workspace });
  await kit.call('update_peer', { id: 'web', labels: { role: 'web' } }, { as, workspace });
  await withPolicy(kit, workspace, 'base', { action: 'DENY', peerSelector: {} });
  expect(await kit.call('get_own_graph', {}, web.self)).toMatchObject({
    peers: [],
    firewall: { full: { in: [], out: [] } },
  });
  await withPolicy(kit, workspace, 'in', {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
  });
  await withPolicy(kit, workspace, 'out', {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'web' } },
    egress: [{ to: [{ peerSelector: { matchLabels: { role: 'db' } } }] }],
  });
  const port = { protocol: 'TCP', from: 5432, to: 5432 };
  const [ofWeb, ofDb] = await Promise.all([web, db].map(({ self }) => kit.call('get_own_graph', {}, self)));
  expect([ofWeb.peers, ofWeb.firewall.full]).toMatchObject([
    [{ name: 'db' }],
    { in: [], out: [{ cidr: '10.96.0.2/32', ...port }] },
  ]);
  expect([ofDb.peers, ofDb.firewall.full]).toMatchObject([
    [{ name: 'web' }],
    { in: [{ cidr: '10.96.0.1/32', ...port }], out: [] },
  ]);
});

test('a rule that a policy allows for a time says when it ends, and the rest of it stays', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const web = await join(kit, workspace, 'web');
  await join(kit, workspace, 'db');
  await withPolicy(kit, workspace, 'base', { action: 'DENY', peerSelector: {} });
  const ports = (port: number, endPort: number) => [{ ports: [{ port, endPort }] }];
  await withPolicy(kit, workspace, 'always', {
    action: 'ALLOW',
    peerSelector: {},
    ingress: ports(80, 80),
    egress: ports(80, 80),
  });
  await withPolicy(
    kit,
    workspace,
    'short',
    { action: 'ALLOW', peerSelector: {}, ingress: ports(79, 90), egress: ports(79, 90) },
    { ttl: '1h' },
  );
  const { firewall } = await kit.call('get_own_graph', {}, web.self);
  const cidr = '10.96.0.2/32';
  expect(firewall.full.out).toEqual([
    { cidr, protocol: 'TCP', from: 79, to: 90, expiresAt: '2026-01-05T13:00:00.000Z' },
    { cidr, protocol: 'TCP', from: 80, to: 80 },
  ]);
});

test('a heartbeat brings a device online as one revision; after 90 silent seconds one of an older version is offline as another', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const device = await join(kit, workspace, 'web');
  const options = { as: person('viewer', workspace), workspace };
  const online = async () => (await kit.call('get_peer', { id: 'web' }, options)).status;
  const before = (await kit.services.states.current(workspace)).revision;
  for (let i = 0; i < 4; i += 1) {
    await kit.call('send_heartbeat', {}, device.self);
    kit.clock.time += 30 * SECOND;
  }
  expect(await online()).toMatchObject({ online: true, lastSeenAt: '2026-01-05T12:01:30.000Z' });
  await sweep(kit);
  expect((await kit.services.states.current(workspace)).revision).toBe(before + 1);
  kit.clock.time += 60 * SECOND;
  await sweep(kit);
  expect(await online()).toMatchObject({ online: false, lastSeenAt: '2026-01-05T12:01:30.000Z' });
  expect((await kit.services.states.current(workspace)).revision).toBe(before + 2);
});

test('heartbeats at the same moment write one revision', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const device = await join(kit, workspace, 'web');
  const before = (await kit.services.states.current(workspace)).revision;
  await Promise.all(Array.from({ length: 20 }, () => kit.call('send_heartbeat', {}, device.self)));
  expect((await kit.services.states.current(workspace)).revision).toBe(before + 1);
});

test.each([
  ['1-3', 45],
  ['1-2', 90],
])('the sweep says when the next peer may go offline: of versions %s of the wire after %i s', async (wire, seconds) => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const device = await join(kit, workspace, 'web');
  await kit.call('send_heartbeat', {}, { ...device.self, wire });
  const job = networkJobs(kit.services).find(({ name }) => name === 'sweep presence');
  expect(await job?.run()).toBe(kit.clock.time + seconds * SECOND);
});

test('a renamed device keeps its id, address, presence and token under the new name', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const device = await join(kit, workspace, 'web');
  await kit.call('send_heartbeat', {}, device.self);
  const renamed = await kit.call('rename_own_device', { name: 'front door' }, device.self);
  expect(renamed).toMatchObject({
    id: device.id,
    name: 'front-door',
    displayName: 'front door',
    status: { address: device.address, online: true },
  });
  expect(await kit.call('get_own_device', {}, device.self)).toMatchObject({ name: 'front-door' });
  const options = { as: person('viewer', workspace), workspace };
  expect(await kit.call('get_peer', { id: 'web' }, options)).toMatchObject({ name: 'front-door', hostname: 'web' });
  const write = { as: person('admin', workspace), workspace };
  await expect(kit.call('delete_peer', { id: 'web' }, write)).rejects.toMatchObject({ code: 'not_found' });
  kit.clock.time += 30_000;
  expect(await kit.call('rename_own_device', { name: 'FRONT door' }, device.self)).toMatchObject({
    name: 'FRONT-door',
  });
});

test('a name that another device has is not given', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const device = await join(kit, workspace, 'a');
  await join(kit, workspace, 'b');
  await expect(kit.call('rename_own_device', { name: 'B' }, device.self)).rejects.toMatchObject({ code: 'conflict' });
});

test('a device never sets its own labels or network', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { self } = await join(kit, workspace, 'a');
  const input = { name: 'a', labels: { role: 'db' }, network: 'other' };
  await expect(kit.call('rename_own_device', input, self)).rejects.toMatchObject({ code: 'invalid_input' });
  await expect(kit.call('update_peer', { id: 'a', labels: {} }, self)).rejects.toMatchObject({ code: 'forbidden' });
});

test('a rotated key is in the graphs of the neighbours, and the old token has ended', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const [a, b] = [await join(kit, workspace, 'a'), await join(kit, workspace, 'b')];
  const { publicKey } = freshKey();
  const { deviceToken } = await kit.call('rotate_device_key', { publicKey }, a.self);
  expect(await kit.call('get_own_graph', {}, b.self)).toMatchObject({ peers: [{ name: 'a', publicKey }] });
  await expect(kit.call('get_own_device', {}, a.self)).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await kit.call('get_own_device', {}, { bearer: deviceToken })).toMatchObject({ id: a.id, publicKey });
  const taken = kit.call('rotate_device_key', { publicKey: b.key.publicKey }, { bearer: deviceToken });
  await expect(taken).rejects.toMatchObject({ code: 'conflict' });
});

test('a device that leaves is gone with its token, and its name and key may come again', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const device = await join(kit, workspace, 'a');
  await kit.call('send_heartbeat', {}, device.self);
  expect(await kit.call('leave_network', {}, device.self)).toEqual({ deleted: 'a' });
  await expect(kit.call('get_own_device', {}, device.self)).rejects.toMatchObject({ code: 'unauthenticated' });
  expect((await kit.services.states.current(workspace)).presence.size).toBe(0);
  expect(await join(kit, workspace, 'a', { key: device.key })).toMatchObject({ name: 'a', address: '10.96.0.2' });
});

test('a revoked device is out of every graph and its token is refused; approval lets it in with its address', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const [a, b] = [await join(kit, workspace, 'a'), await join(kit, workspace, 'b')];
  const operator = { as: person('operator', workspace), workspace };
  await kit.call('send_heartbeat', {}, a.self);
  expect(await kit.call('revoke_peer', { id: a.id }, operator)).toMatchObject({
    status: { phase: 'revoked', online: false },
  });
  expect(await kit.call('get_own_graph', {}, b.self)).toMatchObject({ peers: [] });
  await expect(kit.call('get_own_graph', {}, a.self)).rejects.toMatchObject({ code: 'forbidden' });
  await kit.call('approve_peer', { id: a.id }, operator);
  expect(await kit.call('get_own_graph', {}, a.self)).toMatchObject({ self: { address: a.address } });
});

test('a policy is deleted at the end of its time, and the job says when that is', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  await withPolicy(kit, workspace, 'short', { action: 'ALLOW', peerSelector: {} }, { ttl: '90s' });
  const jobs = networkJobs(kit.services);
  const policies = jobs.find(({ name }) => name === 'expire policies');
  expect(await policies?.run()).toBe(kit.clock.time + 90 * SECOND);
  kit.clock.time += 90 * SECOND;
  expect(await policies?.run()).toBeUndefined();
  expect((await kit.services.states.current(workspace)).policies.size).toBe(0);
});

test('the peer of an expired identity is deleted, and its address is in quarantine', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const as = person('admin', workspace);
  const root = await kit.call('create_agent', { name: 'root' }, { as, workspace });
  const { enrollmentToken } = await kit.call(
    'delegate_agent',
    { id: root.id, subAgentName: 'child', ttl: '1m', policyPreset: 'sandboxed' },
    { bearer: root.token },
  );
  await join(kit, workspace, 'child', { token: enrollmentToken });
  const peers = networkJobs(kit.services).find(({ name }) => name === 'expire peers');
  expect(await peers?.run()).toBe(kit.clock.time + 60 * SECOND);
  kit.clock.time += 60 * SECOND;
  expect(await peers?.run()).toBeUndefined();
  expect((await kit.services.states.current(workspace)).peers.size).toBe(0);
  expect((await kit.services.store.list(workspace, 'AddressRest')).items).toMatchObject([{ name: '10.96.0.1' }]);
});

test('addresses whose rest is over are forgotten', async () => {
  await using kit = await buildKit();
  const workspace = await kit.workspace();
  const { self } = await join(kit, workspace, 'a');
  await kit.call('leave_network', {}, self);
  kit.clock.time += 86_400 * SECOND;
  await sweep(kit);
  expect((await kit.services.store.list(workspace, 'AddressRest')).items).toEqual([]);
});

test('a person, or a device of another workspace, has no device of its own here', async () => {
  await using kit = await buildKit();
  const [here, there] = [await kit.workspace(), await kit.workspace()];
  const { self } = await join(kit, there, 'a');
  const asPerson = { as: person('platform_admin', here), workspace: here };
  await expect(kit.call('get_own_graph', {}, asPerson)).rejects.toMatchObject({ code: 'forbidden' });
  await expect(kit.call('get_own_graph', {}, { ...self, workspace: here })).rejects.toMatchObject({
    code: 'not_found',
  });
});
