import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { natlab } from '../kits/lab/natlab.ts';
import { LabNode, labNodes } from '../kits/lab/natlab-node.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describeLong, describePrivileged } from '../kits/lab/privileged.ts';
import { launcher } from '../kits/process/run-command.ts';

/** Brought by test/systemd-resolved.sh. */
const RESOLVED = path.resolve('node_modules/.cache/systemd-resolved');

/** A DNS server that says 192.0.2.80 for every name but those of the overlay, of which it knows none. */
const OTHER_SERVER = `
  const ADDRESS = Buffer.from('c00c00010001000000050004c0000250', 'hex');
  const socket = require('node:dgram').createSocket('udp4');
  socket.on('message', (query, from) => {
    const isOverlay = query.includes('mesh\\x08internal');
    const question = query.subarray(0, query.indexOf(0, 12) + 5);
    const answer = Buffer.concat(isOverlay ? [question] : [question, ADDRESS]);
    answer.writeUInt16BE(isOverlay ? 0x8183 : 0x8180, 2);
    answer.writeUInt16BE(isOverlay ? 0 : 1, 6);
    answer.writeUInt32BE(0, 8);
    socket.send(answer, from.port, from.address);
  });
  socket.bind(53, '127.0.0.1', () => console.log('listening'));
`;

const dig = (node: LabNode, ...args: readonly string[]) =>
  node.host.run('dig', ['+time=1', '+tries=1', ...args]).then(({ stdout }) => stdout.trim());
const statusOf = (text: string) => /status: (\w+)/.exec(text)?.[1];

describePrivileged('names in the overlay', () => {
  it('resolve on the host of the node, by dig, ping and the libc, and nowhere else', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], (node) => node.up());
    const { names } = await a.until((status) => status.names?.server !== null && status.peers.length === 1);
    const domain = names?.domain ?? '';
    expect(names).toMatchObject({
      domain: expect.stringMatching(/\.mesh\.internal$/),
      server: '10.96.0.1:53',
      resolver: null,
    });
    // No resolver of this host can ask for some names alone: a person is told the line.
    expect(names?.trouble).toContain(`server=/${domain}/10.96.0.1`);

    for (const transport of ['+notcp', '+tcp']) {
      expect(await dig(a, transport, '+short', '@10.96.0.1', `B.${domain}`)).toBe('10.96.0.2');
    }
    expect(await dig(a, '+short', '@10.96.0.1', '-x', '10.96.0.2')).toBe(`b.${domain}.`);
    expect(statusOf(await dig(a, '@10.96.0.1', `c.${domain}`))).toBe('NXDOMAIN');
    expect(statusOf(await dig(a, '@10.96.0.1', `b.${domain}`, 'AAAA'))).toBe('NOERROR');
    expect(statusOf(await dig(a, '@10.96.0.1', 'example.com'))).toBe('REFUSED');
    expect(await dig(a, '@10.96.0.1', domain, 'AXFR')).toContain('Transfer failed');

    // As a resolv.conf has it where a person wrote it.
    const directory = `/etc/netns/${a.host.namespace}`;
    mkdirSync(directory, { recursive: true });
    writeFileSync(`${directory}/resolv.conf`, `nameserver 10.96.0.1\nsearch ${domain}\n`);
    expect(await a.host.must('getent', ['ahostsv4', 'b'])).toContain(`10.96.0.2`);
    expect(await a.host.must('getent', ['hosts', '10.96.0.2'])).toContain(`b.${domain}`);
    expect(await a.host.reaches(`b.${domain}`)).toBe(true);

    // A peer may open any port of this node, and still gets nothing of this one.
    for (const transport of ['+notcp', '+tcp']) {
      expect(await dig(b, transport, '+short', '@10.96.0.1', `a.${domain}`)).toContain('no servers could be reached');
    }
    await a.down();
    expect(await dig(a, '+short', '@10.96.0.1', `b.${domain}`)).toContain('no servers could be reached');
    await a.up(['--no-dns']);
    expect((await a.until(({ node }) => node.address !== null)).names).toBeNull();
    await Promise.all([a.down(), b.down()]);
  });

  it('resolve by resolv.conf where that was asked for, beside all other names, until the node is down, also after it was killed', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { b } = await labNodes(lab, plane, ['b'], (node) => node.up());
    const a = new LabNode(lab.host('a'));
    await a.join(await plane.joinToken());
    const file = `/etc/netns/${a.host.namespace}/resolv.conf`;
    const before = 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n';
    writeFileSync(file, before);
    const other = a.host.spawn(process.execPath, ['-e', OTHER_SERVER]);
    await once(other.stdout as NodeJS.ReadableStream, 'data');
    const domain = (await b.until(({ names }) => names?.server !== null)).names?.domain ?? '';
    const addressOf = async (name: string) => (await a.host.run('getent', ['ahostsv4', name])).stdout.split(' ')[0];

    await a.up(['--write-resolv-conf']);
    const { names, peers } = await a.until(
      (status) => status.names?.resolver === '/etc/resolv.conf' && status.peers.length === 1,
    );
    expect(names?.trouble).toBe('');
    const own = `# mesh ${a.interfaceName}: names of ${domain}, until the node stops\nnameserver ${names?.server?.split(':')[0]}\n`;
    expect(readFileSync(file, 'utf8')).toBe(own + before);
    const all = () => Promise.all([`b.${domain}`, 'www.example.com'].map(addressOf));
    expect(await all()).toEqual([peers[0]?.address, '192.0.2.80']);
    await a.down();
    expect(readFileSync(file, 'utf8')).toBe(before);

    await a.up(['--write-resolv-conf']);
    await a.until((status) => status.names?.resolver === '/etc/resolv.conf');
    process.kill((await a.status()).node.pid, 'SIGKILL');
    expect(readFileSync(file, 'utf8')).toBe(own + before);
    await a.down();
    expect(readFileSync(file, 'utf8')).toBe(before);
    other.kill();
    await b.down();
  });

  it.skipIf(!existsSync(RESOLVED))(
    'are asked of the node by a real systemd-resolved, which forgets them when it goes',
    async () => {
      await using lab = await natlab({ hosts: { a: {}, b: {} } });
      await using plane = await startLabPlane(lab);
      const { b } = await labNodes(lab, plane, ['b'], (node) => node.up());
      const a = new LabNode(lab.host('a'));
      await a.join(await plane.joinToken());
      const mesh = `"${launcher('mesh')}"`;
      const own = `--config-dir "${a.directory}"`;
      const script = [
        'set -e',
        `${mesh} up --daemon --log-dir "${a.directory}/log" --interface ${a.interfaceName} ${own} >/dev/null`,
        `until ${mesh} status --json ${own} | grep -q systemd-resolved; do :; done`,
        `${mesh} status --json ${own} | tr -d '\\n '; echo`,
        'echo long=$(getent ahostsv4 b.$1 | head -n 1)',
        'echo short=$(getent ahosts b | head -n 1)',
        'echo back=$(getent hosts 10.96.0.1)',
        'echo link=$(resolvectl domain "$2")',
        'echo default=$(resolvectl default-route "$2")',
        'echo resolv=$(readlink /etc/resolv.conf)',
        `${mesh} down ${own} >/dev/null`,
        'echo gone=$(getent ahostsv4 b.$1 || echo nothing)',
      ].join('\n');
      const domain = (await b.until(({ names }) => names?.server !== null)).names?.domain ?? '';
      const kit = path.resolve('test/kits/lab/with-resolved.sh');
      const said = await a.host.must(
        'unshare',
        ['-m', 'sh', kit, RESOLVED, 'sh', '-c', script, 'sh', domain, a.interfaceName],
        { timeoutMs: 60_000 },
      );
      const told = Object.fromEntries(said.split('\n').map((line) => line.split(/=(.*)/s).slice(0, 2)));
      expect(said).toContain('"resolver":"systemd-resolved","trouble":""');
      expect(told).toMatchObject({
        long: expect.stringMatching(/^10\.96\.0\.1 /),
        short: expect.stringMatching(/^10\.96\.0\.1 /),
        back: `10.96.0.1 b.${domain}`,
        link: expect.stringContaining(`${domain} ~0.96.10.in-addr.arpa`),
        default: expect.stringContaining('no'),
        resolv: '/run/systemd/resolve/stub-resolv.conf',
        gone: 'nothing',
      });
      await b.down();
    },
  );
});

describeLong('names in the overlay', () => {
  it('of a peer that policy hides are unknown, at once when it does and again when it does no more', async () => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    await using plane = await startLabPlane(lab);
    const { a, b } = await labNodes(lab, plane, ['a', 'b'], (node) => node.up());
    const { names } = await a.until((status) => status.names?.server !== null && status.peers.length === 1);
    const question = ['@10.96.0.1', `b.${names?.domain}`];
    expect(await dig(a, '+short', ...question)).toBe('10.96.0.2');
    const spec = { network: 'default', action: 'DENY', peerSelector: {}, ingress: [{}], egress: [{}] };
    await plane.api('POST', '/api/v1/policies', { name: 'shut', spec });
    await a.until(({ peers }) => peers.length === 0);
    expect(statusOf(await dig(a, ...question))).toBe('NXDOMAIN');
    await plane.api('DELETE', '/api/v1/policies/shut');
    await a.until(({ peers }) => peers.length === 1);
    expect(await dig(a, '+short', ...question)).toBe('10.96.0.2');
    await Promise.all([a.down(), b.down()]);
  });
});
