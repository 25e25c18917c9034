import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { KEY_SHARED } from '../../client/control/standing.ts';
import { provenKey } from '../../client/enrol/key-proof.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { newToken } from '../../core/model/token.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';
import { linkOf as controlNode, joined } from '../kits/http/control-node.ts';
import { type HarnessOptions, startHarness } from '../kits/http/harness.ts';
import { CROWD, seedCrowd } from '../kits/records/seed-peers.ts';
import { freePort } from '../kits/servers/free-port.ts';
import { verifies } from '../verifies.ts';

/** Less than the time from one heartbeat to the next. */
const ONLINE_MS = 10_000;
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  // In reverse order: later parts may hold connections to earlier ones.
  for (const part of running.splice(0).reverse()) await part.stop();
});

/** A control plane that gives out where its bus is; `signalingUrl` says something else. */
async function planeWithBus({ signalingUrl, env, directory }: HarnessOptions & { signalingUrl?: string } = {}) {
  const address = `127.0.0.1:${await freePort()}`;
  const busUrl = `nats://${address}`;
  const given = { MESH_BUS_LISTEN: address, MESH_SIGNALING_URL: signalingUrl ?? busUrl };
  const harness = await startHarness({ env: { ...given, ...env }, ...(directory !== undefined && { directory }) });
  return { harness, place: await harness.workspace(directory === undefined ? 'prod' : 'other'), busUrl };
}

/** One that ends with the test. */
function linkOf(...[config, options]: Parameters<typeof controlNode>) {
  const node = controlNode(config, options);
  running.push(node.link);
  return node;
}

const lists = (names: readonly string[] | undefined, wanted: readonly string[]) => String(names) === String(wanted);

test('a node takes its graph from the API, then every change of it from the bus', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const node = linkOf(await joined(harness, place, 'a', busUrl));
  await node.link.start();
  expect([node.standings, node.peers()]).toEqual([['ready'], []]);
  // What was pushed at the registration may have passed before the node listened: it holds the same from the API.
  await node.until(() => node.link.status.bus.isUp);
  await joined(harness, place, 'b', busUrl);
  await node.until(() => lists(node.peers(), ['b']));
  await harness.api('DELETE', '/api/v1/peers/b', place);
  await node.until(() => lists(node.peers(), []));
  expect(node.link.status).toMatchObject({ standing: 'ready', trouble: '', bus: { isUp: true, trouble: '' } });
});

test('a node says the version of its software over the bus, and over the API where there is no bus', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  for (const [name, url] of [
    ['a', busUrl],
    ['b', 'nats://127.0.0.1:1'],
  ] as const) {
    const config = await joined(harness, place, name, url);
    const versions = () => harness.plane.services.liveness.version(place.workspace, config.id);
    expect(versions()).toBeUndefined();
    const node = linkOf(config);
    await node.link.start();
    await expect.poll(versions).toBe('0.1.0');
  }
});

test.each([
  ['by a bus that is there', {}],
  ['by the API where the bus is away', { signalingUrl: 'nats://127.0.0.1:1' }],
])(
  'a node says that it is here, and that it ends, %s: it is offline at once, and no other is',
  async (_how, options) => {
    const { harness, place, busUrl } = await planeWithBus(options);
    await using _ = harness;
    const { signalingUrl = busUrl } = options as { signalingUrl?: string };
    const isOnline = async (name: string) =>
      (await harness.api('GET', `/api/v1/peers/${name}`, place)).body.status.online;
    const both = async () => [await isOnline('a'), await isOnline('b')];
    const configs = await Promise.all(['a', 'b'].map((name) => joined(harness, place, name, signalingUrl)));
    const nodes = configs.map((config) => linkOf(config, { busWaitMs: 200 }));
    for (const { link } of nodes) await link.start();
    if (signalingUrl === busUrl) for (const node of nodes) await node.until(() => node.link.status.bus.isUp);
    await expect.poll(both, { timeout: ONLINE_MS }).toEqual([true, true]);
    await nodes[0]?.link.stop();
    expect(await both()).toEqual([false, true]);
  },
);

test('a key that two machines use is a warning in the log of the one whose place the other took', {
  timeout: 180_000,
}, async () => {
  const links = new Set<Socket>();
  let busPort = 0;
  const proxy = createServer((socket) => {
    const inner = connect(busPort, '127.0.0.1');
    // The end of one is the end of the other: a node whose bus is gone must not wait on a connection to nobody.
    pipeline(socket, inner, socket, () => {});
    links.add(socket).add(inner);
  }).listen(0, '127.0.0.1');
  running.push({ stop: () => new Promise((resolve) => proxy.close(() => resolve())) });
  await once(proxy, 'listening');
  const signalingUrl = `nats://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { harness, place, busUrl } = await planeWithBus({ signalingUrl });
  await using _ = harness;
  busPort = Number(new URL(busUrl).port);
  const heartbeats = async () =>
    Number(/^mesh_node_heartbeats_total (\d+)$/m.exec((await harness.api('GET', '/metrics')).text)?.[1]);
  const config = await joined(harness, place, 'a', signalingUrl);
  const [first, second] = [linkOf(config), linkOf(config)];
  for (const [count, { link }] of [first, second].entries()) {
    await link.start();
    await expect.poll(heartbeats).toBe(count + 1);
  }
  const warning = `warn ${KEY_SHARED} {}`;
  const isSaid = () => [first.lines.includes(warning), first.link.status.isKeyShared];
  expect(isSaid()).toEqual([false, false]);
  // Each beats at once when its bus is back; a beat that came too early for that is followed by one 15 s later.
  for (const link of links) link.destroy();
  await first.until(() => first.lines.includes(warning));
  expect(isSaid()).toEqual([true, true]);
});

test('a node ends although its control plane takes what it says and never answers', async () => {
  const { harness, place } = await planeWithBus();
  await using _ = harness;
  const asked: string[] = [];
  const silent = createHttpServer((request) => void asked.push(request.url ?? '')).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const config = await joined(harness, place, 'a', 'nats://127.0.0.1:1');
  await linkOf({ ...config, server: `http://127.0.0.1:${port}` }).link.stop();
  expect(asked).toContain('/api/v1/discovery');
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});

test('a node that is told over the bus to fetch its graph has the whole of it from the API, and hears of changes from then on', async () => {
  const earlier = await startHarness();
  const place = await earlier.workspace('prod', 10_000);
  const spec = { peerSelector: {}, action: 'DENY', ingress: [{ from: [{ peerSelector: {} }] }] };
  await earlier.api('POST', '/api/v1/policies', { ...place, body: { name: 'shut', spec } });
  const config = await joined(earlier, place, 'a', '');
  // Where nothing is pushed yet: each of the crowd would be given its first graph.
  await seedCrowd(earlier.plane.services, place.workspace);
  await earlier.stop();
  const { harness, busUrl } = await planeWithBus({ directory: earlier.directory });
  await using _ = harness;
  const node = linkOf({ ...config, server: harness.url, signalingUrl: busUrl });
  await node.link.start();
  await node.until(() => node.lines.some((line) => line.includes('"kind":"full"')));
  expect(node.peers()).toEqual([]);
  await harness.api('DELETE', '/api/v1/policies/shut', place);
  await node.until(() => node.peers()?.length === CROWD);
  expect(node.lines).toContain('debug fetching the graph over the API {"why":"the graph is too large for the bus"}');
  const fetches = () => node.lines.filter((line) => line.includes('fetching the graph')).length;
  const before = fetches();
  for (const name of ['crowd-7', 'crowd-8']) await harness.api('DELETE', `/api/v1/peers/${name}`, place);
  await node.until(() => node.peers()?.length === CROWD - 2);
  expect(node.peers()).not.toContain('crowd-7');
  expect(fetches()).toBe(before);
});

test('a node that was shut out hears it at once over the bus, and again that it was let in', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const node = linkOf(await joined(harness, place, 'a', busUrl));
  await node.link.start();
  await node.until(() => node.link.status.bus.isUp);
  await harness.api('POST', '/api/v1/peers/a/revoke', place);
  await node.until(() => node.standings.at(-1) === 'revoked');
  await harness.api('POST', '/api/v1/peers/a/approve', place);
  await node.until(() => node.standings.at(-1) === 'ready');
  await harness.api('DELETE', '/api/v1/peers/a', place);
  await node.until(() => node.standings.at(-1) === 'removed');
});

test('a node that waits for approval connects on it without a restart', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const settings = { requirePeerApproval: true };
  await harness.api('PATCH', `/api/v1/workspaces/${place.workspace}`, { ...place, body: { settings } });
  const node = linkOf(await joined(harness, place, 'a', busUrl));
  await node.link.start();
  await node.until(() => node.link.status.bus.isUp);
  expect([node.standings, node.graphs]).toEqual([['pending'], []]);
  await harness.api('POST', '/api/v1/peers/a/approve', place);
  await node.until(() => node.standings.at(-1) === 'ready');
  expect(node.graphs.at(-1)?.self.address).toBe('10.96.0.1');
});

test('a bus that accepts and stays silent is named with its address and the wait, and tried again', async () => {
  verifies('limit-bus-wait');
  let triedAgain = () => {};
  const again = new Promise<void>((resolve) => {
    triedAgain = resolve;
  });
  let isFirst = true;
  const silent = createServer(() => {
    if (!isFirst) triedAgain();
    isFirst = false;
  });
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const url = `nats://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  const { harness, place } = await planeWithBus({ signalingUrl: url });
  await using _ = harness;
  try {
    const node = linkOf(await joined(harness, place, 'a', url));
    const before = Date.now();
    await node.link.start();
    await node.until(() => node.lines.some((line) => line.includes(`the bus at ${url} did not answer within 2 s`)));
    expect(Date.now()).toBeGreaterThan(before + 1_900);
    await again;
    expect(node.link.status).toMatchObject({ standing: 'ready', bus: { isUp: false } });
    await node.link.stop();
  } finally {
    silent.close();
  }
});

test('the key of a running node is exchanged, and the graph goes on with the new one', async () => {
  const { harness, place, busUrl } = await planeWithBus({ env: { MESH_SIGNALING_AUTH: 'token' } });
  await using _ = harness;
  const config = await joined(harness, place, 'a', busUrl);
  const node = linkOf(config);
  await node.link.start();
  await node.until(() => node.link.status.bus.isUp);
  const pair = await node.link.rotateKey();
  const { body } = await harness.api('GET', '/api/v1/peers/a', place);
  expect(body.publicKey).toBe(Buffer.from(pair.publicKey).toString('base64'));
  expect(node.saved()).toEqual({
    ...config,
    privateKey: Buffer.from(pair.privateKey).toString('base64'),
    deviceToken: expect.stringMatching(/^mesh-dev-/),
    keySince: expect.stringMatching(/Z$/),
  });
  await joined(harness, place, 'b', busUrl);
  await node.until(() => lists(node.peers(), ['b']));
});

test('a node proves its new key by the old one, so that no person has to approve it', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const config = await joined(harness, place, 'a', busUrl);
  const settings = { requireApproval: true };
  await harness.api('PATCH', `/api/v1/workspaces/${place.workspace}`, { ...place, body: { settings } });
  const { publicKey } = provenKey(generateKeyPair(), config.id, config.controlKey);
  const unproven = { token: config.deviceToken, body: { publicKey } };
  expect(await harness.api('POST', '/api/v1/devices/self/key', unproven)).toMatchObject({ status: 202 });
  const node = linkOf(config);
  const pair = await node.link.rotateKey();
  const { body } = await harness.api('GET', '/api/v1/peers/a', place);
  expect(body.publicKey).toBe(Buffer.from(pair.publicKey).toString('base64'));
  await node.link.stop();
});

test('a refusal of the token that a node had when it asked says nothing of the one that it has by then', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const config = await joined(harness, place, 'a', busUrl);
  const asked = Promise.withResolvers<void>();
  const rotated = Promise.withResolvers<void>();
  let holds = false;
  // On its way when the key changes, at the control plane after it.
  const late = createHttpServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const body = Buffer.concat(await request.toArray());
    if (holds && url.endsWith('/self/graph')) {
      holds = false;
      asked.resolve();
      await rotated.promise;
    }
    const init = { method, headers: headers as Record<string, string>, ...(body.length > 0 && { body }) };
    const answer = await fetch(`${harness.url}${url}`, init).catch(() => undefined);
    if (!answer) return response.destroy();
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  });
  await once(late.listen(0, '127.0.0.1'), 'listening');
  running.push({ stop: async () => late.closeAllConnections() }, { stop: async () => void late.close() });
  const node = linkOf({ ...config, server: `http://127.0.0.1:${(late.address() as AddressInfo).port}` });
  await node.link.start();
  await node.until(() => node.standings.at(-1) === 'ready');
  holds = true;
  node.link.check('a test');
  await asked.promise;
  await node.link.rotateKey();
  rotated.resolve();
  await joined(harness, place, 'b', busUrl);
  await node.until(() => lists(node.peers(), ['b']));
  await expect.poll(() => node.link.status.trouble).toBe('');
  expect(node.standings).toEqual(['ready']);
});

test('a node whose answer to a new key was lost goes on as the same peer, at once or when it starts again', async () => {
  const { harness, place, busUrl } = await planeWithBus({ env: { MESH_SIGNALING_AUTH: 'token' } });
  await using _ = harness;
  const config = await joined(harness, place, 'a', busUrl);
  // The control plane took key and token, and the node has what it had, with what it wrote down before it asked.
  const pair = generateKeyPair();
  const deviceToken = newToken('dev');
  const taken = await harness.api('POST', '/api/v1/devices/self/key', {
    token: config.deviceToken,
    body: { ...provenKey(pair, config.id, config.controlKey), deviceToken },
  });
  expect(taken.body).toMatchObject({ id: config.id, deviceToken });
  const privateKey = Buffer.from(pair.privateKey).toString('base64');
  const lost = { ...config, nextPrivateKey: privateKey, nextDeviceToken: deviceToken };
  const started = linkOf(lost);
  await started.link.start();
  await started.until(() => started.standings.at(-1) === 'ready' && started.link.status.bus.isUp);
  expect(started.saved()).toEqual({ ...config, privateKey, deviceToken, keySince: expect.stringMatching(/Z$/) });
  await started.link.stop();
  const asked = linkOf(lost);
  const { publicKey } = await asked.link.rotateKey();
  expect(Buffer.from(publicKey).toString('base64')).toBe(Buffer.from(pair.publicKey).toString('base64'));
  await asked.link.stop();
});

test('a new key that was never sent is sent when it is asked for again', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const config = await joined(harness, place, 'a', busUrl);
  const away = linkOf({ ...config, server: 'http://127.0.0.1:1024' });
  await expect(away.link.rotateKey()).rejects.toThrow('does not answer');
  const kept = away.saved();
  expect(kept).toMatchObject({ privateKey: config.privateKey, nextPrivateKey: expect.any(String) });
  await away.link.stop();
  const again = linkOf({ ...kept, server: config.server });
  const pair = await again.link.rotateKey();
  expect(Buffer.from(pair.privateKey).toString('base64')).toBe(kept.nextPrivateKey);
  expect(again.saved()).not.toHaveProperty('nextPrivateKey');
  await again.link.stop();
});

test('a refusal that does not last costs no key: what the control plane knows stays on disk until it knows the next', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const config = await joined(harness, place, 'a', busUrl);
  // A key that was never sent, and another control plane in the place of this one: it knows neither token.
  const pair = generateKeyPair();
  const next = { nextPrivateKey: Buffer.from(pair.privateKey).toString('base64'), nextDeviceToken: newToken('dev') };
  const elsewhere = await planeWithBus();
  await using __ = elsewhere.harness;
  const wrong = linkOf({ ...config, ...next, server: elsewhere.harness.url });
  await expect(wrong.link.rotateKey()).rejects.toMatchObject({ code: 'unauthenticated' });
  const kept = wrong.saved();
  expect(kept).toMatchObject({ privateKey: config.privateKey, deviceToken: config.deviceToken, ...next });
  await wrong.link.stop();
  const right = linkOf({ ...config, ...next });
  await right.link.start();
  await right.until(() => right.standings.at(-1) === 'ready');
  await right.link.stop();
});

test('a node without its control plane begins with the graph that it kept, and catches up when it is back', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const config = await joined(harness, place, 'a', busUrl);
  await joined(harness, place, 'b', busUrl);
  const first = linkOf(config);
  await first.link.start();
  const kept = first.graphs.at(-1);
  await first.link.stop();
  const awayWith = (graph: FullGraph | undefined) =>
    linkOf({ ...config, server: 'http://127.0.0.1:1024' }, { ...(graph && { kept: graph }) });
  const away = awayWith(kept);
  expect([away.link.graph, away.link.status.standing]).toEqual([kept, 'unknown']);
  await away.link.start();
  await away.until(() => away.standings.at(-1) === 'ready');
  expect(away.link.graph?.peers.map(({ name }) => name)).toEqual(['b']);
  await away.link.stop();
  // What it holds is what was sent last: nothing is sent again.
  const again = awayWith(away.link.graph);
  await again.link.start();
  await again.until(() => again.standings.at(-1) === 'ready');
});

test('a bus that was moved is found again over the API, and its place is kept', async () => {
  const { harness, place, busUrl } = await planeWithBus();
  await using _ = harness;
  const node = linkOf(await joined(harness, place, 'a', 'nats://127.0.0.1:1024'));
  await node.link.start();
  await node.until(() => node.link.status.bus.isUp);
  expect([node.saved().signalingUrl, node.link.status.bus.url]).toEqual([busUrl, busUrl]);
});
