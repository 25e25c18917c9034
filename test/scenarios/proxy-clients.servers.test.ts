import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { join, type MeshNode } from '../../bin/node.ts';
import { startJoinablePlane } from '../kits/http/joinable-plane.ts';
import { joinTokenFor } from '../kits/http/joining.ts';
import { freshDirectory } from '../kits/process/meshd.ts';
import { blocksOf } from '../kits/process/page-blocks.ts';
import { pythonWith } from '../kits/process/python-judges.ts';
import { mesh, type Ran, run } from '../kits/process/run-command.ts';
import { freePorts } from '../kits/servers/free-port.ts';

const CLIENTS = path.resolve('test/proxy-clients');
const python = pythonWith(path.join(CLIENTS, 'requirements.txt'), 'proxy-clients') ?? '';
/** Of the examples in docs/userspace.md. */
const EXAMPLE_PROXY = '127.0.0.1:1055';

/** A node in userspace mode whose home is this directory, and `db`, a peer with a web server and an SSH server. */
const home = freshDirectory();
const directory = path.join(home, '.mesh');
const key = path.join(home, 'key');
let plane: Awaited<ReturnType<typeof startJoinablePlane>>;
let db: MeshNode;
let ssh: ReturnType<typeof spawn>;
let proxy: { readonly address: string; readonly user: string; readonly password: string };

async function must(ran: Promise<Ran>): Promise<string> {
  const { code, stdout, stderr } = await ran;
  expect([code, stdout, stderr]).toEqual([0, stdout, stderr]);
  return stdout;
}

describe.skipIf(python === '')('a node in userspace mode', () => {
  beforeAll(async () => {
    plane = await startJoinablePlane();
    const token = await joinTokenFor(plane.harness, plane.admin);
    db = await join({ server: plane.harness.url, token, name: 'db' });
    const web = createServer((request, response) => response.end(`served ${request.url}`));
    (await db.listen(8080)).on('connection', (connection) => web.emit('connection', connection));
    await must(run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]));
    ssh = spawn(python, [path.join(CLIENTS, 'ssh_server.py'), `${key}.pub`], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [port] = ssh.stdout ? await once(ssh.stdout, 'data') : [];
    (await db.listen(22)).on('connection', (connection) => {
      const socket = connect(Number(port), '127.0.0.1');
      connection.pipe(socket).pipe(connection);
      socket.on('error', () => connection.destroy());
    });

    mkdirSync(directory, { mode: 0o700 });
    const of = { home, env: { MESH_TOKEN: token, MESH_CONFIG_DIR: directory } };
    await must(mesh(['init', '--server', plane.harness.url, '--name', 'runner'], of));
    const [wg] = await freePorts(1);
    const up = ['up', '--userspace', '--daemon', '--proxy', '127.0.0.1:0', '--wg-port', `${wg}`];
    await must(mesh([...up, '--log-dir', path.join(home, 'log')], of));
    proxy = JSON.parse(await must(mesh(['status', '--json'], of))).proxy;
    await must(mesh(['ping', 'db', '--until-direct'], { ...of, timeoutMs: 60_000 }));
  });
  afterAll(async () => {
    await mesh(['down'], { home, env: { MESH_CONFIG_DIR: directory } });
    ssh?.kill();
    await db?.close();
    await plane?.[Symbol.asyncDispose]();
  });

  it('has a proxy for requests and httpx of Python as the page shows', async () => {
    const [block] = blocksOf('docs/userspace.md').filter(({ language }) => language === 'python');
    const example = block?.text.replace(EXAMPLE_PROXY, proxy.address) ?? '';
    expect(await must(run(python, ['-'], { stdin: example, env: { HOME: home } }))).toBe('served /\nserved /\n');
  });

  it('has a proxy for curl over SOCKS and CONNECT, which refuses whoever has not its password', async () => {
    const { address, user, password } = proxy;
    const curl = (args: readonly string[]) => run('curl', ['--silent', '--show-error', '--max-time', '20', ...args]);
    const socks = `socks5h://${user}:${password}@${address}`;
    expect(await must(curl(['--proxy', socks, 'http://db:8080/socks']))).toBe('served /socks');
    const http = `http://${user}:${password}@${address}`;
    expect(await must(curl(['--proxy', http, '--proxytunnel', 'http://db:8080/connect']))).toBe('served /connect');
    const wrong = await curl(['--proxy', `socks5h://${user}:wrong@${address}`, 'http://db:8080/']);
    expect([wrong.code, wrong.stdout]).toEqual([97, '']);
  });

  it('leads ssh to a peer by mesh nc as its ProxyCommand', async () => {
    const options = {
      ProxyCommand: 'mesh nc %h %p',
      StrictHostKeyChecking: 'no',
      UserKnownHostsFile: '/dev/null',
      BatchMode: 'yes',
      LogLevel: 'ERROR',
    };
    const words = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    const env = { HOME: home, MESH_CONFIG_DIR: directory };
    expect(await must(run('ssh', ['-F', 'none', '-i', key, ...words, 'someone@db', 'uptime'], { env }))).toBe(
      'ran uptime\n',
    );
  });
});
