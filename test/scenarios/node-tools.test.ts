import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { inLocalTime } from '../../cli/local-time.ts';
import { localSocketPath, serveLocally } from '../../client/agent/local-socket.ts';
import { GraphFile } from '../../client/control/graph-file.ts';
import { parseJoinLink } from '../../client/enrol/join-link.ts';
import { readNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { ADMIN_PASSWORD } from '../kits/http/harness.ts';
import { joinTokenFor } from '../kits/http/joining.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { mesh } from '../kits/process/run-command.ts';
import { nodeStatus } from '../kits/records/node-status.ts';
import { verifies } from '../verifies.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) => mesh(args, { home, env });

async function signedInPlane() {
  const plane = await startWiredPlane();
  const login = await run(['login', '--server', plane.harness.url, '--workspace', plane.workspace], {
    MESH_PASSWORD: ADMIN_PASSWORD,
  });
  expect(login.code).toBe(0);
  return plane;
}

test('mesh why tells what policy says and which path the node itself reported, and ends with 1 when it is denied', async () => {
  await using plane = await signedInPlane();
  const [a, b] = [await plane.join('a'), await plane.join('b')];
  const since = '2026-01-01T00:00:00.000Z';
  const paths = [{ peer: b.id, transport: 'lrp-ready', path: 'relayed', reason: 'no-candidates', since }];
  const heard = await plane.harness.api('POST', '/api/v1/devices/self/heartbeat', {
    token: a.deviceToken,
    body: { paths },
  });
  expect(heard.status).toBe(200);
  const reported = await plane.harness.api('GET', '/api/v1/peers/a/paths', plane.admin);
  expect(reported.body).toEqual({ items: [{ ...paths[0], name: 'b' }] });
  const allowed = await run(['why', 'a', 'b']);
  expect([allowed.code, allowed.stderr]).toEqual([0, '']);
  expect(allowed.stdout).toContain(`Path from a to b: relayed (lrp-ready) since ${inLocalTime(since)}: no-candidates`);
  expect(allowed.stdout).toMatch(/^Since \w+day \d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)? \([\w/+:-]+\)\.$/m);
  expect((await run(['why', 'b', 'B'])).stdout.trim().split('\n')[0]).toContain('Both ends are the same peer, b');
  expect((await run(['why', 'b', 'B'])).stdout).not.toContain('reaches B');
  expect((await run(['why', 'b', 'a'])).stdout).toContain('b has not reported how it reaches a.');

  const base = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
  expect((await plane.harness.api('POST', '/api/v1/policies', { ...plane.admin, body: base })).status).toBe(201);
  const denied = await run(['why', 'a', 'b', '--json']);
  expect([denied.code, JSON.parse(denied.stdout)]).toMatchObject([
    1,
    { policy: { denied: true }, path: { path: 'relayed' } },
  ]);
});

/** A node of this machine that was told of its network, where nobody is signed in. */
async function nodeWithGraph(plane: Awaited<ReturnType<typeof startWiredPlane>>) {
  const directory = path.join(home, 'node');
  const token = await joinTokenFor(plane.harness, plane.admin);
  const init = ['init', '--server', plane.harness.url, '--name', 'here', '--config-dir', directory];
  expect((await run(init, { MESH_TOKEN: token })).code).toBe(0);
  const config = readNodeConfig(directory);
  if (!config) throw new Error('no configuration was written');
  const told = async () => {
    const graph = await new PlaneApi(config.server, config.deviceToken).graph();
    new GraphFile(directory, config.id).write(graph);
  };
  await told();
  const why = (...args: readonly string[]) => run(['why', ...args, '--config-dir', directory]);
  return { told, why, directory, id: config.id, login: `mesh login --server ${plane.harness.url}` };
}

test('mesh why on a node where nobody is signed in judges what concerns the node by its own graph', async () => {
  await using plane = await startWiredPlane();
  await plane.join('b');
  const { told, why, login } = await nodeWithGraph(plane);
  const open = await why('here', 'b', '--json');
  expect([open.code, JSON.parse(open.stdout)]).toMatchObject([0, { policy: { denied: false, allowed: 'ALL' } }]);
  expect((await why('b', 'here')).stdout).toMatch(/^Policy: b may open to here: everything \(the graph of this node/);

  const spec = {
    action: 'ALLOW',
    peerSelector: { matchLabels: { name: 'b' } },
    ingress: [{ from: [{ peerSelector: {} }], ports: [{ protocol: 'TCP', port: 5_432 }] }],
  };
  const body = { name: 'db', spec };
  expect(await plane.harness.api('POST', '/api/v1/policies', { ...plane.admin, body })).toMatchObject({ status: 201 });
  await told();
  const denied = await why('here', 'b', '--protocol', 'tcp', '--port', '22');
  expect([denied.code, denied.stdout]).toEqual([
    1,
    expect.stringMatching(/^Policy: here may not open connections to b by TCP 22, only: TCP 5432 \(/),
  ]);
  expect(denied.stdout).toContain(
    `How b reaches this node, the control plane knows. Sign in to the control plane: ${login}\n`,
  );
});

test.each([
  ['revoked', 'was revoked: its tunnels are down until it is let in again'],
  ['pending', 'waits for approval, and connects by itself then'],
] as const)(
  'mesh why on a node that is %s says that before all else, and who lets it in how',
  async (standing, said) => {
    await using plane = await startWiredPlane();
    await plane.join('b');
    const { why, directory, id } = await nodeWithGraph(plane);
    const base = nodeStatus([]);
    const control = { ...base.control, server: plane.harness.url, standing };
    const status = { ...base, node: { ...base.node, id, name: 'here' }, control };
    const agent = await serveLocally(localSocketPath(directory), async () => status, silentLog);
    onTestFinished(() => agent.close());
    for (const pair of [
      ['here', 'b'],
      ['b', 'here'],
    ]) {
      const { code, stdout } = await why(...pair);
      expect(stdout).toMatch(
        new RegExp(`^This node ${said}. An administrator runs: .*mesh approve ${id} --server http`),
      );
      expect(code).toBe(1);
    }
  },
);

test('mesh why on a node says plainly what only its control plane knows, and how to ask it', async () => {
  await using plane = await startWiredPlane();
  const { why, login } = await nodeWithGraph(plane);
  const nobody = await why('here', 'nobody');
  expect([nobody.code, nobody.stdout, nobody.stderr]).toEqual([
    4,
    '',
    expect.stringMatching(
      new RegExp(`has no peer nobody: no policy lets .* is not told. Sign in to the control plane: ${login}\n$`),
    ),
  ]);
  const others = await why('a', 'b');
  expect([others.code, others.stdout, others.stderr]).toEqual([
    3,
    '',
    `here knows of pairs that it is one of, and of none between a and b. Sign in to the control plane: ${login}\n`,
  ]);
  const [, , ...words] = login.split(' ');
  expect(await run(['login', ...words], { MESH_PASSWORD: ADMIN_PASSWORD })).toMatchObject({ code: 0 });
  expect(await why('here', 'nobody')).toMatchObject({ code: 4 });
});

test('mesh invite makes a token and shows it as a QR code; the link is in words only when it is asked for', async () => {
  verifies('join-link');
  await using plane = await signedInPlane();
  const { code, stdout, stderr } = await run(['invite']);
  expect([code, stdout.includes('mesh-join-'), /[█▀▄]{10}/.test(stdout)]).toEqual([0, false, true]);
  expect(stderr).toContain('Set app.publicUrls in config.yaml');
  const linked = await run(['invite', '--link', '--public-server', plane.harness.url]);
  const link = linked.stdout.split('\n').find((line) => line.startsWith('mesh://')) ?? '';
  expect(parseJoinLink(link)).toEqual({ server: plane.harness.url, token: expect.stringMatching(/^mesh-join-/) });
  expect((await run(['init', link, '--name', 'phone'])).stdout).toContain('Registered phone');
});

test('mesh netcheck names what is reached from here, and what a closed port costs', async () => {
  await using plane = await signedInPlane();
  const token = await joinTokenFor(plane.harness, plane.admin);
  expect((await run(['init', '--server', plane.harness.url], { MESH_TOKEN: token })).code).toBe(0);
  const options = ['--relay-url', `127.0.0.1:${plane.relayPort}`, '--stun', `127.0.0.1:${plane.stunPort}`];
  const { stdout } = await run(['netcheck', '--json', ...options]);
  expect(JSON.parse(stdout)).toMatchObject({
    ipv4: { address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) },
    nat: { kind: 'none' },
    silentStun: [],
    relay: { address: `127.0.0.1:${plane.relayPort}`, isReached: true },
    api: { isReached: true },
    node: null,
  });
  const stun = ['--stun', `127.0.0.1:${plane.stunPort}`, '127.0.0.1:1'];
  const text = (await run(['netcheck', '--relay-url', '127.0.0.1:1', ...stun])).stdout;
  expect(text).toMatch(/^STUN silent {4}127\.0\.0\.1:1: no answer$/m);
  expect(text).toMatch(
    /Relay +127\.0\.0\.1:1 {2}not reached \(ECONNREFUSED\)\. Effect: nodes that cannot connect directly/,
  );
});

test('mesh netcheck blames no STUN server whose name has no address', async () => {
  await using plane = await signedInPlane();
  const token = await joinTokenFor(plane.harness, plane.admin);
  expect((await run(['init', '--server', plane.harness.url], { MESH_TOKEN: token })).code).toBe(0);
  const { stdout } = await run(['netcheck', '--stun', 'stun.invalid']);
  expect(stdout).toMatch(/^STUN IPv4 {6}not asked$/m);
  expect(stdout).toContain('No STUN server was asked: DNS gives no address of one.');
  expect(stdout).not.toMatch(/STUN silent|UDP may be blocked/);
});

test('mesh netcheck on a node that was revoked says so, and nothing of a network that it is not told of', async () => {
  await using plane = await startWiredPlane();
  const { directory } = await nodeWithGraph(plane);
  await plane.harness.api('POST', '/api/v1/peers/here/revoke', { ...plane.admin, body: {} });
  const { stdout } = await run(['netcheck', '--config-dir', directory]);
  expect(stdout).toMatch(/^Standing {7}This node was revoked: .* An administrator runs: \S*mesh approve/m);
  expect(stdout).toMatch(/^Relay {10}none {2}the control plane tells nothing to a node that it keeps out$/m);
  expect(stdout).not.toMatch(/UDP may be blocked|cannot communicate|only relay paths/);
});
