import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { nodeStatusSchema } from '../../client/agent/node-status.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { LAB_SERVER, startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { sandboxRemains } from '../kits/lab/sandboxes.ts';
import { launcher } from '../kits/process/run-command.ts';
import { verifies } from '../verifies.ts';

const asDaemon = (node: LabNode) => node.up();

describePrivileged('mesh up', () => {
  it('brings two machines into one network with the commands of the contract, and mesh down takes all away', async () => {
    verifies('cli-up', 'cli-init', 'cli-config-dir', 'cli-status', 'device-status', 'limit-wireguard-port');
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const [a, b] = [new LabNode(lab.host('a')), new LabNode(lab.host('b'))];
    const token = await plane.joinToken();
    await a.join(token);
    await b.join(token);
    expect(await a.up()).toContain('a is up as 10.96.0.1');
    expect(await b.up()).toContain('b is up as 10.96.0.2');
    expect(await a.host.reaches('10.96.0.2')).toBe(true);
    const status = await a.until(({ peers }) => peers[0]?.state === 'connected');
    expect(status.node).toMatchObject({ name: 'a', address: '10.96.0.1', listenPort: 51_820 });
    expect(status.control).toMatchObject({ standing: 'ready', bus: { isUp: true } });
    expect(status.peers).toMatchObject([{ name: 'b', address: '10.96.0.2', handshake: expect.stringMatching(/Z$/) }]);
    expect(nodeStatusSchema.parse(JSON.parse(await a.must(['status', '--json'])))).toMatchObject({ node: status.node });
    const text = await a.must(['status']);
    for (const word of ['Transport', 'Path', 'Handshake', 'State', 'Endpoint']) expect(text).toContain(word);
    const ping = await a.must(['ping', 'b', '--count', '1']);
    expect(ping).toMatch(/^b \(10\.96\.0\.2\) [\d.]+ ms (direct|relayed) via /);

    await expect(a.up()).rejects.toThrow(new RegExp(`ended with 5:\\n.*is up already \\(pid ${status.node.pid}\\)`));
    expect((await a.mesh(['status', '--config-dir', '/nowhere'])).stderr).toMatch(
      /Join first, with a join token in a file: mesh init /,
    );
    await a.down();
    expect(await a.host.hasInterface(a.interfaceName)).toBe(false);
    expect(await a.host.must('nft', ['list', 'ruleset'])).not.toContain(a.interfaceName);
    expect((await a.mesh(['status'])).code).toBe(7);
  });

  it('puts all its packet rules back after someone flushed those of the host', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], asDaemon);
    const tables = async () => (await a.host.must('nft', ['list', 'tables'])).match(/mesh_[a-z]+/g)?.sort() ?? [];
    await a.until(({ icePort, peers }) => icePort.isShared && peers[0]?.path === 'direct');
    const before = await tables();
    expect(before).toEqual(['mesh_guard', 'mesh_ice', 'mesh_m', 'mesh_relay']);
    await a.host.must('nft', ['flush', 'ruleset']);
    await a.until(() => a.log.includes('something removed the firewall'));
    while ((await tables()).length < before.length) await b.host.reaches('10.96.0.1');
    expect(await tables()).toEqual(before);
    await Promise.all([a.down(), b.down()]);
  });

  it('goes by the relay of --relay-url with the credential of its graph where the advertised one is not reached', async () => {
    verifies('cli-relay-url', 'device-relay-endpoint', 'ports-wireguard', 'signaling-syn-restart');
    await using lab = await natlab({
      routers: { home: { nat: 'easy' }, office: { nat: 'easy' } },
      hosts: { a: { behind: 'home' }, b: { behind: 'office' } },
    });
    await using plane = await startLabPlane(lab, { MESH_RELAY_ADVERTISE_URL: '198.51.100.250:6266' });
    for (const router of ['home', 'office']) await lab.host(router).block('udp dport 51820');
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], (node) => node.up(['--relay-url', 'plane.test:6266']));
    expect(await a.host.reaches('10.96.0.2')).toBe(true);
    const status = await a.until(({ peers }) => peers[0]?.transport === 'lrp-ready');
    expect(status.relay).toMatchObject({ state: 'ready', address: expect.stringContaining('plane.test:6266') });
    expect(status.peers[0]).toMatchObject({ path: 'relayed', endpoint: expect.stringMatching(/^\[fd6c:7270::/) });
    // A crash: its peer hears nothing of it, and its interface is left behind.
    const isTold = () => a.log.includes('SYN on active LRP session');
    for (let crashes = 0; crashes < 5 && !isTold(); crashes += 1) {
      await a.until(({ peers }) => ['no-stun', 'checks-failed'].includes(peers[0]?.reason.code ?? ''));
      process.kill((await b.status()).node.pid, 'SIGKILL');
      await b.up(['--relay-url', 'plane.test:6266']);
    }
    await a.until(isTold);
    await Promise.all([a.down(), b.down()]);
  });

  it('cannot join while 18090 is blocked, and needs it no more once it is up', async () => {
    verifies('ports-api');
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const a = new LabNode(lab.host('a'));
    const token = await plane.joinToken();
    await a.host.block('tcp dport 18090');
    const blocked = await a.mesh(['init', '--server', LAB_SERVER], { env: { MESH_TOKEN: token } });
    expect([blocked.code, blocked.stderr]).toEqual([7, expect.stringContaining(`${LAB_SERVER} does not answer`)]);
    await a.host.unblock();
    await a.join(token);
    await a.up();
    await a.until(({ control }) => control.bus.isUp);
    await a.host.block('tcp dport 18090');
    await labNodes(lab, plane, ['b'], asDaemon);
    await a.until(({ peers }) => peers[0]?.name === 'b');
    expect(await a.host.reaches('10.96.0.2')).toBe(true);
  });

  it('logs more with --level debug, and what WireGuard and ICE do with --enable-sys-log', async () => {
    verifies('cli-up', 'cli-up-logs');
    await using lab = await natlab({ hosts: { a: {}, b: {}, c: {} } });
    await using plane = await startLabPlane(lab);
    const { a } = await labNodes(lab, plane, ['a'], (node) => node.up(['--level', 'debug']));
    const { b } = await labNodes(lab, plane, ['b'], (node) => node.up(['--enable-sys-log']));
    const { c } = await labNodes(lab, plane, ['c'], asDaemon);
    for (const node of [a, b, c]) await node.until(({ peers }) => peers.length === 2);
    await b.host.reaches('10.96.0.1');
    await b.until(() => b.log.includes('wireguard: handshake with a'));
    expect(a.log).toContain('fetching the graph over the API');
    expect([b.log, c.log].filter((text) => text.includes('fetching the graph'))).toEqual([]);
    expect([a.log, c.log].filter((text) => text.includes('wireguard: handshake'))).toEqual([]);
  });

  it('takes the port of --wg-port, and logs under /var/log/mesh as a --daemon with its --config-dir', async () => {
    verifies('cli-up', 'cli-up-wg-port', 'cli-up-daemon', 'cli-up-daemon-log', 'cli-config-dir');
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    const up = [launcher('mesh'), 'up', '--daemon', '--config-dir', a.directory, '--interface', a.interfaceName];
    // An empty /var/log of its own, so that nothing is left on this machine.
    const script = 'mount -t tmpfs none /var/log && "$@" && cat /var/log/mesh/*.log';
    const said = await lab.host('a').must('unshare', ['-m', 'sh', '-c', script, 'sh', ...up, '--wg-port', '51999']);
    expect(said).toContain('a is up as 10.96.0.1');
    expect(said).toContain('Log: /var/log/mesh/');
    expect(said).toContain('is up on UDP port 51999');
    expect((await a.status()).node.listenPort).toBe(51_999);
    await a.down();
  });

  it('takes another name with --name, and another key while it is up', async () => {
    verifies('cli-up', 'cli-up-name');
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], asDaemon);
    expect(await b.host.reaches('10.96.0.1')).toBe(true);
    const before = (await a.status()).node.publicKey;
    expect(await a.must(['rotate-key'])).toContain('New public key: ');
    await b.until(({ peers }) => peers.length === 1);
    expect((await a.status()).node.publicKey).not.toBe(before);
    expect(await b.host.reaches('10.96.0.1')).toBe(true);
    await b.down();
    await b.up(['--name', 'my laptop']);
    await a.until(({ peers }) => peers[0]?.name === 'my-laptop');
  });

  it('says what is missing and what to do about it where no tunnel can be made', async () => {
    verifies('cli-privileged', 'cli-status');
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    const without =
      (...drop: readonly string[]) =>
      (args: readonly string[]) =>
        lab.host('a').run('setpriv', [...drop, launcher('mesh'), ...args, '--config-dir', a.directory]);
    const inContainer = await without('--bounding-set=-net_admin', '--inh-caps=-net_admin')(['up']);
    expect([inContainer.code, inContainer.stderr]).toEqual([8, expect.stringContaining('CAP_NET_ADMIN')]);
    const asUser = without('--reuid=65534', '--regid=65534', '--clear-groups');
    const status = await asUser(['status']);
    const again = `sudo mesh status --config-dir ${a.directory}`;
    expect([status.code, status.stderr]).toEqual([8, `mesh status needs superuser rights: ${again}\n`]);
    expect((await asUser(['up'])).code).toBe(8);
  });

  it('refuses an overlay that overlaps a route of the host, and names both', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    await lab.host('a').must('ip', ['route', 'add', '10.96.0.0/16', 'dev', 'eth0']);
    await expect(a.up()).rejects.toThrow(
      /ended with 5:\n.*block 10\.96\.0\.0\/24 is not routed: it overlaps .*10\.96\.0\.0\/16/,
    );
    expect(await a.host.hasInterface(a.interfaceName)).toBe(false);
  });

  it('loses its tunnels within 2 seconds of being revoked, and has them again when it is let in', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a } = await labNodes(lab, plane, ['a', 'b'], asDaemon);
    await a.until(({ control }) => control.bus.isUp);
    await plane.api('POST', '/api/v1/peers/a/revoke');
    const revokedAt = performance.now();
    while (await a.host.hasInterface(a.interfaceName)) expect(performance.now() - revokedAt).toBeLessThan(2_000);
    // Nor does it come up again by itself where nobody tells it so.
    expect(existsSync(path.join(a.directory, 'graph.json'))).toBe(false);
    await plane.api('POST', '/api/v1/peers/a/approve');
    await a.until(({ node, peers }) => node.address === '10.96.0.1' && peers.length === 1, 30_000);
  });

  it('comes up without the control plane, from the graph that it kept', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], asDaemon);
    await a.until(({ peers }) => peers.length === 1);
    await a.down();
    await plane.stop();
    expect(await a.up()).toContain('a is up as 10.96.0.1');
    expect(await b.status()).toMatchObject({ node: { address: '10.96.0.2' }, peers: [{ name: 'a' }] });
    await plane.start();
    await a.until(({ control }) => control.bus.isUp && control.trouble === '', 60_000);
    expect(await a.host.reaches('10.96.0.2')).toBe(true);
  });
});

describePrivileged('mesh sandbox start', () => {
  it('runs a command whose only network is the overlay under its preset, and passes its exit code on', async () => {
    verifies('sandbox-start');
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    await labNodes(lab, plane, ['b'], asDaemon);
    const reach = [{ to: [{ peerSelector: {} }] }];
    const agent = await plane.api('POST', '/api/v1/agents', { name: 'planner', reach });
    const delegated = async (ttl: string) => {
      const body = { subAgentName: `worker-${ttl}`, ttl, policyPreset: 'inherit' };
      const { body: answer } = await plane.call('POST', `/api/v1/agents/${agent.id}/delegate`, {
        token: agent.token,
        body,
      });
      return answer.enrollmentToken as string;
    };
    const start = async (ttl: string, command: readonly string[]) => {
      const args = ['sandbox', 'start', '--server', LAB_SERVER, '--', ...command];
      return lab.host('a').run(launcher('mesh'), args, { env: { MESH_TOKEN: await delegated(ttl) } });
    };
    const script = 'ip -br link | wc -l; ping -n -c1 -w10 10.96.0.1 && ! ping -n -c1 -W1 198.51.100.1 && exit 42';
    const ran = await start('10m', ['sh', '-c', script]);
    expect([ran.code, ran.stdout.split('\n')[0]]).toEqual([42, '2']);
    expect(await plane.api('GET', '/api/v1/peers')).toMatchObject({ items: [{ name: 'b' }] });

    const startedAt = performance.now();
    const late = await start('8s', ['sleep', '60']);
    expect([late.code, performance.now() - startedAt < 20_000]).toEqual([5, true]);
    expect(sandboxRemains()).toEqual([]);
  });

  it('needs the token alone on a machine that joined, says that it waits for approval, and bears the name of the sub-agent', async () => {
    await using lab = await natlab({ hosts: { a: {} } });
    await using plane = await startLabPlane(lab);
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    await plane.api('PATCH', `/api/v1/workspaces/${plane.workspace}`, { settings: { requirePeerApproval: true } });
    const agent = await plane.api('POST', '/api/v1/agents', { name: 'planner' });
    const { body } = await plane.call('POST', `/api/v1/agents/${agent.id}/delegate`, {
      token: agent.token,
      body: { subAgentName: 'code reviewer', ttl: '5m', policyPreset: 'isolated' },
    });
    const running = a.mesh(['sandbox', 'start', '--', 'true'], { env: { MESH_TOKEN: body.enrollmentToken } });
    const pending = async () => (await plane.api('GET', '/api/v1/peers?phase=pending')).items;
    await expect.poll(pending, { timeout: 30_000 }).toMatchObject([{ name: 'code-reviewer', agent: 'code-reviewer' }]);
    const [{ id }] = await pending();
    await plane.api('POST', `/api/v1/peers/${id}/approve`);
    const { code, stderr } = await running;
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(
        `code-reviewer waits for approval, and goes on by itself then: mesh approve ${id} --server `,
      ),
    ]);
  });
});
