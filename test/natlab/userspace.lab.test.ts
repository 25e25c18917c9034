import { expect, it } from 'vitest';
import { readNodeConfig } from '../../client/enrol/node-config.ts';
import { type LabHost, type Natlab, natlab } from '../kits/lab/natlab.ts';
import { LabNode } from '../kits/lab/natlab-node.ts';
import { type LabPlane, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { TUNLESS, UserspaceNode } from '../kits/lab/userspace-node.ts';

const SHUT = {
  name: 'shut',
  spec: { network: 'default', action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}] },
};
/** A web server on port 8080, and one on 9000 that greets and waits. */
const SERVERS = `
  const greeter = require('net').createServer((socket) => socket.on('error', () => {}).write('hello'));
  const web = require('http').createServer((request, response) => response.end('served ' + request.url));
  greeter.listen(9000, '0.0.0.0', () => web.listen(8080, '0.0.0.0', () => console.log('up')));`;

/** Answers each datagram at UDP port 5353 with its text in capitals. */
const UDP_SERVER = `
  const socket = require('dgram').createSocket('udp4').on('message', (bytes, { port, address }) =>
    socket.send(String(bytes).toUpperCase(), port, address));
  socket.bind(5353, '0.0.0.0', () => console.log('up'));`;
/** Sends `ask` to an address until it is answered, and prints the answer. */
const udpClient = (at: string) => `
  const [address, port] = '${at}'.split(':');
  const socket = require('dgram').createSocket('udp4').on('message', (bytes) => { console.log(String(bytes)); process.exit() });
  setInterval(() => socket.send('ask', Number(port), address), 200);`;

async function answersUdp(host: LabHost, at: string): Promise<string> {
  return (await host.must(process.execPath, ['-e', udpClient(at)])).trim();
}

/** Starts a command of a node that lasts. @returns what it said first, from JSON */
async function lasting(node: LabNode, args: readonly string[]) {
  const [file, ...words] = node.command([...args, '--json', '--config-dir', node.directory]);
  const child = node.host.spawn(file, words, { HOME: node.directory });
  const said = new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (data) => resolve(`${data}`));
    child.stderr?.once('data', (data) => reject(new Error(`${data}`)));
  });
  return JSON.parse(await said);
}

async function serveOn(host: LabHost): Promise<void> {
  const child = host.spawn(process.execPath, ['-e', SERVERS]);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
}

/** A root node `a` with a web server, and a node `u` of an ordinary user. */
async function pair(
  lab: Natlab,
  plane: LabPlane,
  way: 'direct' | 'relayed' = 'direct',
): Promise<{ a: LabNode; u: UserspaceNode }> {
  const token = await plane.joinToken();
  const [a, u] = [new LabNode(lab.host('a')), new UserspaceNode(lab.host('u'))];
  await a.join(token);
  await u.join(token);
  await a.up();
  await serveOn(a.host);
  u.start();
  await u.until(({ peers, node }) => node.address !== null && peers.some(({ path: by }) => by === way));
  return { a, u };
}

/** curl through the proxy of a node, as another program of its host. */
async function curl(node: LabNode, scheme: 'http' | 'socks5h', args: readonly string[]) {
  const { proxy } = await node.status();
  const url = `${scheme}://${proxy?.user}:${proxy?.password}@${proxy?.address}`;
  return node.host.run('curl', ['--silent', '--show-error', '--max-time', '10', '--proxy', url, ...args]);
}

describePrivileged('a node of an ordinary user, without TUN device', () => {
  it('joins, pings a root node, and is reached and reaches as policy permits', async () => {
    await using lab = await natlab({ hosts: { a: {}, u: {} } });
    await using plane = await startLabPlane(lab);
    const { a, u } = await pair(lab, plane);
    expect((await u.status()).node).toMatchObject({ tunnel: 'userspace' });
    expect(await u.must(['ping', 'a', '--count', '1'])).toMatch(/^a \(10\.96\.0\.1\) [\d.]+ ms direct via /);
    expect(await a.host.reaches('10.96.0.2')).toBe(true);

    expect(await curl(u, 'socks5h', ['http://a:8080/one'])).toMatchObject({ code: 0, stdout: 'served /one' });
    expect(await curl(u, 'http', ['http://10.96.0.1:8080/two'])).toMatchObject({ code: 0, stdout: 'served /two' });
    expect(await curl(u, 'http', ['--proxytunnel', 'http://a:8080/3'])).toMatchObject({ code: 0, stdout: 'served /3' });
    expect((await curl(u, 'http', ['http://198.51.100.1/'])).stdout).toContain('--proxy-direct');

    const request = 'GET /nc HTTP/1.0\r\n\r\n';
    expect(await u.must(['nc', 'a', '8080'], { stdin: request })).toContain('served /nc');

    const [forward, ...forwardWords] = u.command(['forward', '0:a:8080', '--json', '--config-dir', u.directory]);
    const forwarding = u.host.spawn(forward, forwardWords, { HOME: u.directory });
    const told = await new Promise<string>((resolve) => forwarding.stdout?.once('data', (data) => resolve(`${data}`)));
    const { local } = JSON.parse(told);
    expect(await u.host.run('curl', ['--silent', `http://${local}/4`])).toMatchObject({ stdout: 'served /4' });

    await serveOn(u.host);
    const [file, ...words] = u.command(['serve', '80', '--to', '127.0.0.1:8080', '--config-dir', u.directory]);
    const serving = u.host.spawn(file, words, { HOME: u.directory });
    await new Promise((resolve) => serving.stdout?.once('data', resolve));
    const fetched = await a.host.run('curl', ['--silent', '--max-time', '10', 'http://10.96.0.2/x']);
    expect(fetched).toMatchObject({ code: 0, stdout: 'served /x' });

    // A connection that is open when policy closes ends at once.
    const [nc, ...ncWords] = u.command(['nc', 'a', '9000', '--config-dir', u.directory]);
    const flow = u.host.spawn(nc, ncWords, { HOME: u.directory });
    await new Promise((resolve) => flow.stdout?.once('data', resolve));
    const ended = new Promise((resolve) => flow.once('close', resolve));
    await plane.api('POST', '/api/v1/policies', SHUT);
    await ended;
    await u.until(({ firewall }) => firewall.out === 0);
    expect((await curl(u, 'http', ['http://10.96.0.1:8080/'])).stdout).toContain('No policy permits');
    expect(await u.stop()).toBe(0);
    await a.down();
  });

  it('forwards and serves UDP ports as policy permits, as does a root node', async () => {
    await using lab = await natlab({ hosts: { a: {}, u: {} } });
    await using plane = await startLabPlane(lab);
    const { a, u } = await pair(lab, plane);
    for (const { host } of [a, u]) {
      const server = host.spawn(process.execPath, ['-e', UDP_SERVER]);
      await new Promise((resolve) => server.stdout?.once('data', resolve));
    }
    for (const [node, peer] of [
      [u, 'a'],
      [a, 'u'],
    ] as const) {
      const other = node === u ? a : u;
      await lasting(other, ['serve', '5300', '--udp', '--to', '127.0.0.1:5353']);
      const { local } = await lasting(node, ['forward', `0:${peer}:5300`, '--udp']);
      expect(await answersUdp(node.host, local)).toBe('ASK');
    }
    expect(await answersUdp(a.host, '10.96.0.2:5300')).toBe('ASK');
    const again = await u.mesh(['serve', '5300', '--udp']);
    expect(again).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('Port 5300 of this node is served already'),
    });
    const udp = { ports: [{ protocol: 'UDP', port: 5300 }] };
    const spec = { network: 'default', action: 'DENY', peerSelector: {}, ingress: [udp], egress: [udp] };
    await plane.api('POST', '/api/v1/policies', { name: 'no-udp', spec });
    await expect
      .poll(async () => (await u.mesh(['forward', '0:10.96.0.1:5300', '--udp'], { timeoutMs: 5_000 })).stderr, {
        timeout: 60_000,
      })
      .toContain('No policy permits');
    expect(await u.stop()).toBe(0);
    await a.down();
  });

  it('is reached by the relay where no direct path opens', async () => {
    const routers = { ra: { nat: 'hard' }, ru: { nat: 'hard' } } as const;
    await using lab = await natlab({ routers, hosts: { a: { behind: 'ra' }, u: { behind: 'ru' } } });
    await using plane = await startLabPlane(lab);
    const { a, u } = await pair(lab, plane, 'relayed');
    expect(await curl(u, 'socks5h', ['http://a:8080/far'])).toMatchObject({ code: 0, stdout: 'served /far' });
    expect(await a.host.reaches('10.96.0.2')).toBe(true);
    for (const [node, other] of [
      [a, 'u'],
      [u, 'a'],
    ] as const) {
      await node.untilPeer(other, ({ endpoint }) => endpoint?.startsWith('[fd6c:7270::') === true);
    }
    expect(await u.must(['ping', 'a', '--count', '1'])).toMatch(/ ms relayed via \[fd6c:7270::/);
    expect(await u.must(['status'])).toMatch(/^a +10\.96\.0\.1 .*relayed.*fd6c:7270::/m);
    expect(JSON.parse(await u.must(['why', 'u', 'a', '--json']))).toMatchObject({
      path: { path: 'relayed' },
      large: { isLost: false },
    });
    expect(await u.stop()).toBe(0);
    await a.down();
  });

  it('is told both commands by mesh up, and keeps its choice', async () => {
    await using lab = await natlab({ hosts: { u: {} } });
    await using plane = await startLabPlane(lab);
    const u = new UserspaceNode(lab.host('u'));
    await u.join(await plane.joinToken());
    const refused = await u.mesh(['up']);
    expect(refused).toMatchObject({ code: 8, stderr: expect.stringContaining('sudo mesh up') });
    expect(refused.stderr).toContain('mesh up --userspace');
    expect(await u.up()).toContain('in userspace mode');
    await u.down();
    expect(await u.up(['--proxy', '127.0.0.1:0'])).toContain('in userspace mode');
    await u.down();
  });

  it('is what root gets by itself without a TUN device, from then on', async () => {
    await using lab = await natlab({ hosts: { u: {} } });
    await using plane = await startLabPlane(lab);
    const u = new LabNode(lab.host('u'), undefined, TUNLESS);
    await u.join(await plane.joinToken());
    expect(await u.up(['--proxy', '127.0.0.1:0'])).toContain('in userspace mode');
    expect(readNodeConfig(u.directory)).toMatchObject({ tunnel: 'userspace' });
    await u.down();
    expect(await u.mesh(['up', '--no-userspace'])).toMatchObject({ code: 8 });
  });
});
