import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../bin/compose/config.ts';
import { testCertificate } from '../net/nats/test-certificate.ts';
import { isInstalled } from './kits/process/needs.ts';
import { pythonEnvironment } from './kits/process/python-judges.ts';
import { run } from './kits/process/run-command.ts';

/** What runs in containers is looked at by the programs that read it: no engine is needed. */

const DEPLOY = path.resolve('deploy');
const JUDGES = path.resolve('test/deploy-judges');
/** Built once. */
const BUILDING_MS = 180_000;
const PATIENCE = { timeout: 20_000 };
const BALANCER = 'haproxy';

function freshFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'mesh-deploy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What has to be fetched may not be had; on CI it has to be. */
function orSay<T>(what: string, make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (process.env['CI'] === 'true') throw error;
    process.stderr.write(`${what} cannot be had: it judges nothing (${String(error)}).\n`);
    return undefined;
  }
}

test(
  'hadolint finds nothing wrong with the Dockerfile, and something with one that is wrong',
  async ({ skip }) => {
    const python = orSay('hadolint', () => pythonEnvironment(path.join(JUDGES, 'requirements.txt'), 'deploy-judges'));
    if (python === undefined) return skip();
    const hadolint = (file: string) => run(path.join(python, 'bin/hadolint'), ['--no-color', file]);
    expect(await hadolint(path.join(DEPLOY, 'Dockerfile'))).toEqual({ code: 0, stdout: '', stderr: '' });
    const wrong = path.join(freshFolder(), 'Dockerfile');
    writeFileSync(wrong, 'FROM debian\nRUN cd /tmp\n');
    expect((await hadolint(wrong)).stdout).toContain('DL3006');
  },
  BUILDING_MS,
);

test.skipIf(!isInstalled('go'))(
  'the compose files load as Docker reads them, and one that is wrong does not',
  async ({ skip }) => {
    const folder = freshFolder();
    const judge = orSay('compose-go', () => {
      const file = path.join(folder, 'judge');
      execFileSync('go', ['build', '-buildvcs=false', '-o', file, '.'], {
        cwd: JUDGES,
        stdio: ['ignore', 'ignore', 'pipe'],
        timeout: BUILDING_MS,
      });
      return file;
    });
    if (judge === undefined) return skip();
    const secrets = { MESH_LRP_AUTH_TOKEN: 'a token of a relay', MESH_BUS_PASSWORD: '1e5' };
    const env = { MESH_HOST: 'mesh.example.com', ...secrets };
    const files = ['compose.yaml', 'compose.cluster.yaml'].map((name) => path.join(DEPLOY, name));
    expect(await run(judge, files, { env })).toEqual({ code: 0, stdout: '1\n13\n', stderr: '' });
    expect((await run(judge, files)).stderr).toContain('set it to the name or address that nodes reach this host by');
    const wrong = path.join(folder, 'compose.yaml');
    writeFileSync(wrong, 'services: { plane: { image: mesh, read_only: [yes, no] } }\n');
    expect((await run(judge, [wrong])).code).toBe(1);
  },
  BUILDING_MS,
);

test('every name that a compose file gives to a service is one that it has, and planes and relay share their settings', () => {
  const text = readFileSync(path.join(DEPLOY, 'compose.cluster.yaml'), 'utf8');
  const balancer = readFileSync(path.join(DEPLOY, 'haproxy.cfg'), 'utf8');
  const servers = [...balancer.matchAll(/^ +server (\w+) (\w+):(\d+)$/gm)];
  expect(servers.map(([, name, host]) => [name, host])).toEqual(
    ['plane1', 'plane2', 'plane3', 'nats1', 'nats2', 'nats3'].map((name) => [name, name]),
  );
  for (const [, name] of servers) expect(text).toMatch(new RegExp(`^  ${name}:`, 'm'));
});

test.skipIf(!isInstalled(BALANCER))('HAProxy takes the configuration of the balancer', async () => {
  const folder = freshFolder();
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(path.join(folder, 'mesh.pem'), `${testCertificate.cert}\n${testCertificate.key}`);
  const text = readFileSync(path.join(DEPLOY, 'haproxy.cfg'), 'utf8');
  writeFileSync(file, text.replace('/etc/ssl/mesh.pem', path.join(folder, 'mesh.pem')));
  expect(await run('haproxy', ['-c', '-q', '-f', file])).toMatchObject({ code: 0 });
  expect((await run('haproxy', ['-c', '-q', '-f', path.join(DEPLOY, 'nats.conf')])).code).toBe(1);
});

test.skipIf(!isInstalled(BALANCER))(
  'the balancer cuts off a write that waits at a control plane that stands still, and sends reads and the rest to others',
  async () => {
    const folder = freshFolder();
    let standsStill = false;
    const planes = ['plane1', 'plane2', 'plane3'].map((name) =>
      createServer((request, response) => {
        if (standsStill && name === 'plane1') return;
        if (request.url === '/waits') standsStill = name === 'plane1';
        if (!standsStill || name !== 'plane1') response.end(name);
      }).listen(0, '127.0.0.1'),
    );
    onTestFinished(() => {
      for (const plane of planes) plane.close().closeAllConnections();
    });
    await Promise.all(planes.map((plane) => plane.listening || once(plane, 'listening')));
    const ports = planes.map((plane) => (plane.address() as AddressInfo).port);
    const socketPath = path.join(folder, 'api.sock');
    const [api = ''] = readFileSync(path.join(DEPLOY, 'haproxy.cfg'), 'utf8')
      .replace(/^resolvers engine\n(?: .*\n)+/m, '')
      .replace('maxconn 20000', 'maxconn 100')
      .replaceAll(' resolvers engine init-addr last,libc,none', '')
      .replace(/bind :8443 .*/, `bind unix@${socketPath}`)
      .replaceAll(/plane(\d):18090/g, (_, nth) => `127.0.0.1:${ports[Number(nth) - 1]}`)
      .split('# NATS servers');
    const file = path.join(folder, 'haproxy.cfg');
    writeFileSync(file, api);
    const haproxy = spawn(BALANCER, ['-W', '-f', file], { stdio: 'ignore' });
    onTestFinished(async () => {
      if (haproxy.kill('SIGTERM')) await once(haproxy, 'exit');
    });
    const ask = async (route: string, method = 'GET') => {
      const outgoing = httpRequest({ socketPath, path: route, method, headers: { host: 'mesh.example.com' } }).end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      return { status: response.statusCode, said: await text(response) };
    };
    await expect.poll(() => ask('/').catch(() => undefined), PATIENCE).toMatchObject({ status: 200 });
    // By turns, until one has reached the first and waits there.
    const waiting: Promise<boolean>[] = [];
    while (!standsStill) {
      waiting.push(
        ask('/waits', 'POST').then(
          ({ status = 0 }) => status >= 500,
          () => true,
        ),
      );
      await ask('/');
    }
    const reads = await Promise.all(['/', '/', '/'].map((route) => ask(route)));
    expect(reads.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await Promise.all(waiting)).filter((isCutOff) => isCutOff)).toHaveLength(1);
    for (let n = 0; n < 6; n += 1) expect((await ask('/')).said).not.toBe('plane1');
  },
);

test.skipIf(!isInstalled('nats-server'))(
  'nats-server takes the configuration of the bus, with its password',
  async () => {
    const check = (env: Readonly<Record<string, string>>) =>
      run('nats-server', ['-t', '-c', path.join(DEPLOY, 'nats.conf')], { env });
    const { code, stderr } = await check({ MESH_BUS_PASSWORD: '"1e5"' });
    expect([code, stderr]).toEqual([0, expect.stringContaining('configuration file')]);
    expect((await check({})).code).toBe(1);
  },
);

test('the example of config.yaml is one, also with what is commented out', () => {
  const folder = freshFolder();
  const text = readFileSync(path.join(DEPLOY, 'config.example.yaml'), 'utf8');
  writeFileSync(path.join(folder, 'config.yaml'), text.replaceAll(/^ {2}# (relays:|stun:| {2}- )/gm, '  $1'));
  const { app } = loadConfig({}, folder);
  expect([app.relays.map(({ name }) => name), app.stun]).toEqual([['eu'], ['eu.relay.example.com:3478']]);
});
