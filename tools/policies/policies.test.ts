import { expect, test } from 'vitest';
import { join } from '../../test/kits/plane/devices.ts';
import { buildKit, person } from '../../test/kits/plane/kit.ts';

const DENY_ALL = { action: 'DENY', peerSelector: {} };
const MANIFEST = `apiVersion: mesh.internal/v1alpha1
kind: MeshPolicy
metadata: { name: base }
spec: { action: DENY, peerSelector: {} }
`;

async function openWorkspace() {
  const kit = await buildKit();
  const workspace = await kit.workspace();
  const as = person('operator', workspace);
  const call = (name: string, input: Record<string, unknown> = {}) => kit.call(name, input, { as, workspace });
  return { kit, workspace, call, [Symbol.asyncDispose]: () => kit[Symbol.asyncDispose]() };
}

test('a policy is created from fields, from an object and from YAML alike', async () => {
  await using world = await openWorkspace();
  const { call } = world;
  const object = { apiVersion: 'mesh.internal/v1alpha1', kind: 'MeshPolicy', metadata: { name: 'object' } };
  const made = [
    await call('create_policy', { name: 'fields', spec: DENY_ALL }),
    await call('create_policy', { ...object, spec: DENY_ALL }),
    await call('create_policy', { manifest: MANIFEST }),
  ];
  expect(made.map(({ name, spec, generation }) => ({ name, spec, generation }))).toEqual(
    ['fields', 'object', 'base'].map((name) => ({ name, spec: DENY_ALL, generation: 1 })),
  );
});

test('a policy says how many peers it is about and what is odd about it', async () => {
  await using world = await openWorkspace();
  const { call, kit, workspace } = world;
  await join(kit, workspace, 'a');
  await join(kit, workspace, 'b');
  await call('update_peer', { id: 'a', labels: { role: 'db' } });
  const peerSelector = { matchExpressions: [{ key: 'role', operator: 'Exists' }] };
  expect(await call('create_policy', { name: 'p', spec: { action: 'ALLOW', peerSelector } })).toMatchObject({
    status: { matchedPeers: 1, ruleCount: 0, warnings: [expect.stringContaining('isolates')] },
  });
});

test('a policy is listed, read by id and name, replaced and deleted', async () => {
  await using world = await openWorkspace();
  const { call } = world;
  const { id } = await call('create_policy', { name: 'my policy', spec: DENY_ALL, labels: { team: 'a' } });
  await call('create_policy', { name: 'other', spec: DENY_ALL });
  const page = await call('list_policies', { limit: 1 });
  expect(page.items).toMatchObject([{ id, name: 'my-policy' }]);
  const rest = await call('list_policies', { limit: 1, cursor: page.next_cursor });
  expect(rest.items).toMatchObject([{ name: 'other' }]);
  const replaced = await call('update_policy', { id, spec: { action: 'ALLOW', peerSelector: {}, ingress: [{}] } });
  expect(replaced).toMatchObject({ generation: 2, labels: { team: 'a' }, spec: { action: 'ALLOW', ingress: [{}] } });
  expect(await call('get_policy', { id: 'MY-policy' })).toEqual(replaced);
  expect(await call('delete_policy', { id: 'my-policy' })).toEqual({ deleted: 'my-policy' });
  await expect(call('get_policy', { id })).rejects.toMatchObject({ code: 'not_found' });
});

test('a ttl becomes the end of the policy', async () => {
  await using world = await openWorkspace();
  const { call } = world;
  expect(await call('create_policy', { name: 'short', spec: DENY_ALL, ttl: '1h30m' })).toMatchObject({
    spec: { ...DENY_ALL, expiresAt: '2026-01-05T13:30:00.000Z' },
  });
});

test.each<[string, Record<string, unknown>, string]>([
  ['no name', { spec: DENY_ALL }, '/name'],
  ['no spec', { name: 'p' }, '/spec'],
  ['an unknown action', { name: 'p', spec: { action: 'MAYBE' } }, '/spec/action'],
  ['an unknown network', { name: 'p', spec: { ...DENY_ALL, network: 'x' } }, '/spec/network'],
  ['a ttl that is none', { name: 'p', spec: DENY_ALL, ttl: 'soon' }, '/ttl'],
  ['a ttl beside an end', { name: 'p', spec: { ...DENY_ALL, expiresAt: '2030-01-01T00:00:00Z' }, ttl: '1h' }, '/ttl'],
  [
    'an end that has passed',
    { name: 'p', spec: { ...DENY_ALL, expiresAt: '2020-01-01T00:00:00Z' } },
    '/spec/expiresAt',
  ],
  ['a label value with a space', { name: 'p', spec: DENY_ALL, labels: { a: 'b c' } }, '/labels/a'],
  ['a network as YAML', { manifest: MANIFEST.replace('MeshPolicy', 'MeshNetwork') }, '/spec/cidr'],
  ['a peer as YAML', { manifest: MANIFEST.replace('MeshPolicy', 'MeshPeer').replace(/spec.*/, '') }, '/kind'],
  ['two documents', { manifest: `${MANIFEST}---\n${MANIFEST}` }, ''],
])('%s is refused with the field named', async (_title, input, pointer) => {
  await using world = await openWorkspace();
  const { call } = world;
  await expect(call('create_policy', input)).rejects.toMatchObject({
    code: 'invalid_input',
    details: { errors: expect.arrayContaining([expect.objectContaining({ pointer })]) },
  });
});

test('a put whose body names another policy is refused', async () => {
  await using world = await openWorkspace();
  const { call } = world;
  await call('create_policy', { manifest: MANIFEST });
  await expect(call('update_policy', { id: 'base', name: 'other', spec: DENY_ALL })).rejects.toMatchObject({
    details: { errors: [{ pointer: '/name' }] },
  });
  expect(await call('update_policy', { id: 'base', manifest: MANIFEST })).toMatchObject({ generation: 1 });
});

test('a policy larger than a record may be is refused', async () => {
  await using world = await openWorkspace();
  const { call } = world;
  const random = () => Math.random().toString(36).slice(2);
  const rules = Array.from({ length: 900 }, () => ({
    from: [{ peerSelector: { matchLabels: { [random()]: random() + random() } } }],
  }));
  const tooLarge = call('create_policy', {
    name: 'large',
    spec: { action: 'ALLOW', peerSelector: {}, ingress: rules },
  });
  await expect(tooLarge).rejects.toMatchObject({ code: 'payload_too_large' });
});

test('a viewer reads and does not write, and nobody reaches into another workspace', async () => {
  await using world = await openWorkspace();
  const { call, kit, workspace } = world;
  const { id } = await call('create_policy', { name: 'p', spec: DENY_ALL });
  const viewer = { as: person('viewer', workspace), workspace };
  expect(await kit.call('get_policy', { id }, viewer)).toMatchObject({ name: 'p' });
  for (const [name, input] of [
    ['create_policy', { name: 'q', spec: DENY_ALL }],
    ['update_policy', { id, spec: DENY_ALL }],
    ['delete_policy', { id }],
    ['apply_resources', { manifest: MANIFEST }],
    ['create_network', { name: 'n', spec: { cidr: '10.97.0.0/24' } }],
    ['update_peer', { id: 'a', labels: {} }],
    ['approve_peer', { id: 'a' }],
    ['revoke_peer', { id: 'a' }],
    ['delete_peer', { id: 'a' }],
  ] as const) {
    await expect(kit.call(name, input, viewer)).rejects.toMatchObject({ code: 'forbidden' });
  }
  const elsewhere = await kit.workspace();
  const foreign = { as: person('admin', elsewhere), workspace: elsewhere };
  await expect(kit.call('get_policy', { id }, foreign)).rejects.toMatchObject({ code: 'not_found' });
  await expect(kit.call('delete_policy', { id }, { ...foreign, workspace })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(await call('get_policy', { id })).toMatchObject({ name: 'p' });
});

test('a network is made, grown and deleted; the default one stays', async () => {
  await using world = await openWorkspace();
  const { call, kit, workspace } = world;
  expect(await call('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/30' } })).toMatchObject({
    spec: { cidr: '10.97.0.0/30', mtu: 1280, defaultAction: 'ALLOW' },
    status: { peers: 0, allocated: 0, available: 2 },
  });
  await join(kit, workspace, 'a');
  await call('update_peer', { id: 'a', network: 'lab' });
  expect(await call('update_network', { id: 'lab', spec: { cidr: '10.97.0.0/24' } })).toMatchObject({
    status: { peers: 1, allocated: 1, available: 253 },
  });
  await expect(call('delete_network', { id: 'lab' })).rejects.toMatchObject({ code: 'conflict' });
  await call('delete_peer', { id: 'a' });
  expect(await call('delete_network', { id: 'lab' })).toEqual({ deleted: 'lab' });
  await expect(call('delete_network', { id: 'default' })).rejects.toMatchObject({ code: 'conflict' });
  expect((await call('list_networks')).items).toMatchObject([{ name: 'default' }]);
});

test('a peer is renamed, labelled and moved in one request', async () => {
  await using world = await openWorkspace();
  const { call, kit, workspace } = world;
  await call('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  const { id } = await join(kit, workspace, 'a');
  expect(await call('update_peer', { id: 'a', name: 'b 1', labels: { x: 'y' }, network: 'lab' })).toMatchObject({
    id,
    name: 'b-1',
    labels: { x: 'y' },
    network: 'lab',
    status: { address: '10.97.0.1' },
  });
  expect(await call('list_peers', { network: 'lab' })).toMatchObject({ items: [{ id }] });
  expect(await call('list_peers', { phase: 'pending' })).toEqual({ items: [] });
});
