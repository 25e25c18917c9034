import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { joinTokenFor, type Place, peerNames, register } from '../kits/http/joining.ts';
import { freshKey } from '../kits/plane/devices.ts';
import { verifies } from '../verifies.ts';

let harness: Harness;
let session: string;
const given = {
  MESH_SIGNALING_URL: 'nats://bus.example.net:14222',
  MESH_RELAY_ADVERTISE_URL: 'relay.example.net:16266',
  MESH_STUN_URL: 'stun.example.net:13478',
};
beforeAll(async () => {
  harness = await startHarness({ env: given });
  session = await harness.login();
});
afterAll(() => harness[Symbol.asyncDispose]());

async function placeOf(slug: string, maxNodeCount = 250): Promise<Place> {
  const body = { slug, namespace: slug, displayName: slug, maxNodeCount };
  const answer = await harness.api('POST', '/api/v1/workspaces/add', { token: session, body });
  return { token: session, workspace: answer.body.data.id };
}

const refusal = ({ status, body }: { status: number; body: { code: string } }) => [status, body.code];

test('a device registers on the API port with a join token and is told where everything is', async () => {
  verifies('device-register', 'auth-join', 'device-address', 'env-signaling-url', 'env-stun-url');
  const place = await placeOf('joining');
  const discovery = await harness.api('GET', '/api/v1/discovery');
  const { status, body } = await register(harness, await joinTokenFor(harness, place), 'web');
  expect([status, body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^p_/),
      name: 'web',
      phase: 'ready',
      address: '10.96.0.1',
      workspaceId: place.workspace,
      deviceToken: expect.stringMatching(/^mesh-dev-[\w-]{43}$/),
      controlKey: discovery.body.controlKey,
      signalingUrl: given.MESH_SIGNALING_URL,
      stunUrl: given.MESH_STUN_URL,
      cidr: '10.96.0.0/24',
    },
  ]);
  expect(discovery.body).toMatchObject({ signalingUrl: given.MESH_SIGNALING_URL, stunUrl: given.MESH_STUN_URL });
});

test('the relay that a graph names is the advertised one', async () => {
  verifies('relay-address-advertised', 'env-relay-advertise', 'relay-address-credential');
  const place = await placeOf('relayed');
  const { body } = await register(harness, await joinTokenFor(harness, place), 'web');
  const graph = await harness.api('GET', '/api/v1/devices/self/graph', { token: body.deviceToken });
  expect(graph.body.relay.url).toBe(given.MESH_RELAY_ADVERTISE_URL);
  const { credential, address } = graph.body.relay;
  expect(address).toBe(`lrp://${credential}@${given.MESH_RELAY_ADVERTISE_URL}`);
  expect(graph.body.stun).toEqual([given.MESH_STUN_URL]);
});

test('every device has an address of its own in 10.96.0.x, however many come at once', async () => {
  verifies('device-address');
  const place = await placeOf('addresses');
  const token = await joinTokenFor(harness, place);
  const joined = await Promise.all(Array.from({ length: 40 }, (_, index) => register(harness, token, `n${index}`)));
  const addresses = joined.map(({ body }) => body.address as string);
  expect(new Set(addresses).size).toBe(40);
  expect(addresses.filter((address) => !/^10\.96\.0\.\d+$/.test(address))).toEqual([]);
});

test('spaces in a device name become hyphens, and the name with spaces is not found', async () => {
  verifies('device-name', 'error-unnormalized-name');
  const place = await placeOf('names');
  const { body } = await register(harness, await joinTokenFor(harness, place), 'my living room');
  expect(body.name).toBe('my-living-room');
  const asked = await harness.api('GET', '/api/v1/peers/my%20living%20room', place);
  expect(asked.body).toMatchObject({ status: 404, code: 'not_found', title: 'Record not found', meant: body.name });
  const found = await harness.api('GET', '/api/v1/peers/my-living-room', place);
  expect([found.status, found.body.displayName]).toEqual([200, 'my living room']);
});

test('100 registrations at once with a token of 5 uses make exactly 5 peers', async () => {
  verifies('token-uses-exact', 'token-expiry');
  const place = await placeOf('race');
  const token = await joinTokenFor(harness, place, { usageLimit: 5 });
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => register(harness, token, `racer-${index}`)),
  );
  const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length;
  expect([count(201), count(401)]).toEqual([5, 95]);
  const winners = answers.filter(({ status }) => status === 201).map(({ body }) => body.name);
  expect((await peerNames(harness, place)).sort()).toEqual(winners.sort());
});

test('registering again with the same token and key answers the same peer and spends nothing', async () => {
  const place = await placeOf('again');
  const token = await joinTokenFor(harness, place, { usageLimit: 2 });
  const { publicKey } = freshKey();
  const first = await register(harness, token, 'web', { publicKey });
  const again = await register(harness, token, 'web', { publicKey });
  expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
  const listed = await harness.api('GET', '/api/v1/tokens', place);
  expect(listed.body.items.map(({ usedCount }: { usedCount: number }) => usedCount)).toEqual([1]);
  expect(refusal(await register(harness, token, 'web'))).toEqual([409, 'conflict']);
});

test('a token that an administrator revoked lets nobody in, and its devices stay', async () => {
  verifies('token-revocation');
  const place = await placeOf('revoked');
  const token = await joinTokenFor(harness, place);
  const { body } = await register(harness, token, 'web');
  const listed = await harness.api('GET', '/api/v1/tokens', place);
  const gone = await harness.api('DELETE', `/api/v1/tokens/${listed.body.items[0].id}`, place);
  expect([gone.status, gone.body]).toEqual([200, { revoked: true }]);
  expect(refusal(await register(harness, token, 'db'))).toEqual([401, 'unauthenticated']);
  const device = await harness.api('GET', '/api/v1/devices/self', { token: body.deviceToken });
  expect([device.status, device.body.name]).toEqual([200, 'web']);
});

test('a workspace takes maxNodeCount peers and no more, however many come at once', async () => {
  verifies('workspace-max-node-count');
  const place = await placeOf('small', 3);
  const token = await joinTokenFor(harness, place);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => register(harness, token, `n${index}`)));
  expect(answers.map(refusal).filter(([status]) => status !== 201)).toEqual(Array(9).fill([409, 'conflict']));
  expect(await peerNames(harness, place)).toHaveLength(3);
});

test('with peer approval a new device is pending and has no graph until an administrator approves it', async () => {
  verifies('approval-mode', 'error-pending');
  const place = await placeOf('careful');
  const settings = { requirePeerApproval: true };
  await harness.api('PATCH', `/api/v1/workspaces/${place.workspace}`, { ...place, body: { settings } });
  const token = await joinTokenFor(harness, place);
  const web = await register(harness, token, 'web');
  const db = await register(harness, token, 'db');
  expect([web.status, web.body.phase, web.body.address]).toEqual([201, 'pending', null]);
  const graphOf = ({ body }: typeof web) =>
    harness.api('GET', '/api/v1/devices/self/graph', { token: body.deviceToken });
  expect(refusal(await graphOf(web))).toEqual([403, 'peer_pending']);

  const approve = (name: string, by = place.token) =>
    harness.api('POST', `/api/v1/peers/${name}/approve`, { ...place, token: by });
  expect(refusal(await approve('web', web.body.deviceToken))).toEqual([403, 'forbidden']);
  expect((await approve('db')).body.status).toMatchObject({ phase: 'ready', approvedBy: 'user:admin' });
  const alone = await graphOf(db);
  expect([alone.status, alone.body.peers]).toEqual([200, []]);
  expect((await approve('web')).status).toBe(200);
  expect((await graphOf(web)).body.peers.map(({ name }: { name: string }) => name)).toEqual(['db']);
});

test('resources have the kinds of the contract at version v1alpha1', async () => {
  verifies('crd-kinds', 'crd-group');
  const place = await placeOf('resources');
  await register(harness, await joinTokenFor(harness, place), 'web');
  const resource = (kind: string, name: string, spec: object) => ({
    apiVersion: 'mesh/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  const known = await harness.api('POST', '/api/v1/apply', { ...place, body: { documents: [{ kind: 'MeshPeer' }] } });
  const apiVersion = /apiVersion is (\S+)/.exec(known.body.detail)?.[1]?.replace(/[.,]$/, '');
  expect(apiVersion).toMatch(/^[a-z0-9.-]+\/v1alpha1$/);
  const documents = [
    resource('MeshNetwork', 'lab', { cidr: '10.99.0.0/24', mtu: 1420, defaultAction: 'DENY' }),
    resource('MeshPolicy', 'base', { action: 'DENY', peerSelector: {}, ingress: [{}] }),
    resource('MeshPeer', 'web', { network: 'default' }),
  ].map((document) => ({ ...document, apiVersion }));
  const { status, body } = await harness.api('POST', '/api/v1/apply', { ...place, body: { documents } });
  expect([status, body.items]).toEqual([
    200,
    [
      { kind: 'MeshNetwork', name: 'lab', result: 'created' },
      { kind: 'MeshPolicy', name: 'base', result: 'created' },
      { kind: 'MeshPeer', name: 'web', result: 'unchanged' },
    ],
  ]);
  const later = documents.map((document) => ({ ...document, apiVersion: apiVersion?.replace('v1alpha1', 'v1') }));
  expect(refusal(await harness.api('POST', '/api/v1/apply', { ...place, body: { documents: later } }))).toEqual([
    400,
    'invalid_input',
  ]);
});

test('administration needs a session as a bearer, and a workspace where there are several', async () => {
  verifies('auth-session', 'auth-workspace-header', 'paths-prefixed');
  const place = await placeOf('scoped');
  expect(refusal(await harness.api('GET', '/api/v1/peers', { workspace: place.workspace }))).toEqual([
    401,
    'unauthenticated',
  ]);
  expect(refusal(await harness.api('GET', '/api/v1/peers', { token: session }))).toEqual([400, 'invalid_input']);
  expect((await harness.api('GET', '/api/v1/peers', place)).status).toBe(200);
  expect(refusal(await harness.api('GET', '/api/v1/peers', { token: session, workspace: 'w_unknown' }))).toEqual([
    404,
    'not_found',
  ]);
  const twice = { ...place, workspace: (await placeOf('other')).workspace };
  expect(refusal(await harness.api('GET', `/api/v1/workspaces/${place.workspace}/snapshots`, twice))).toEqual([
    400,
    'invalid_input',
  ]);
  for (const path of ['/discovery', '/users/login', '/v1/discovery', '/api/discovery', '/api/v2/discovery'])
    expect(refusal(await harness.api('GET', path))).toEqual([404, 'not_found']);
});

test('no secret that was given out is in the log', async () => {
  verifies('credentials-file');
  expect(harness.secrets.size).toBeGreaterThan(50);
  const log = harness.log.join('\n');
  expect(log.length).toBeGreaterThan(0);
  expect([...harness.secrets].filter((secret) => log.includes(secret))).toEqual([]);
});
