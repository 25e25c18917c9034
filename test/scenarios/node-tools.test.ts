import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseJoinLink } from '../../client/enrol/join-link.ts';
import { ADMIN_PASSWORD } from '../kits/http/harness.ts';
import { joinTokenFor } from '../kits/http/joining.ts';
import { startWiredPlane } from '../kits/http/wired-plane.ts';
import { mesh } from '../kits/process/run-command.ts';
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
  expect(allowed.stdout).toContain(
    'Path from a to b: relayed (lrp-ready) since 2026-01-01T00:00:00.000Z: no-candidates',
  );
  expect((await run(['why', 'b', 'a'])).stdout).toContain('b has not reported how it reaches a.');

  const base = { name: 'base', spec: { action: 'DENY', peerSelector: {} } };
  expect((await plane.harness.api('POST', '/api/v1/policies', { ...plane.admin, body: base })).status).toBe(201);
  const denied = await run(['why', 'a', 'b', '--json']);
  expect([denied.code, JSON.parse(denied.stdout)]).toMatchObject([
    1,
    { policy: { denied: true }, path: { path: 'relayed' } },
  ]);
});

test('mesh invite makes a token and shows it as a QR code; the link is in words only when it is asked for', async () => {
  verifies('join-link');
  await using plane = await signedInPlane();
  const { code, stdout } = await run(['invite']);
  expect([code, stdout.includes('mesh-join-'), /[█▀▄]{10}/.test(stdout)]).toEqual([0, false, true]);
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
    relay: { address: `127.0.0.1:${plane.relayPort}`, isReached: true },
    api: { isReached: true },
    node: null,
  });
  const text = (await run(['netcheck', '--relay-url', '127.0.0.1:1'])).stdout;
  expect(text).toMatch(
    /Relay +127\.0\.0\.1:1 {2}not reached \(ECONNREFUSED\)\. Effect: nodes that cannot connect directly/,
  );
});
