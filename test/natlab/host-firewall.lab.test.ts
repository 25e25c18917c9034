import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { FirewallEntry } from '../../core/model/graph.ts';
import { natlab } from '../kits/lab/natlab.ts';
import { labNodes } from '../kits/lab/natlab-node.ts';
import { labParts } from '../kits/lab/natlab-parts.ts';
import { startLabPlane } from '../kits/lab/natlab-plane.ts';
import { describeLong, describePrivileged, isLong } from '../kits/lab/privileged.ts';
import { isInstalled } from '../kits/process/needs.ts';

const NOW = Date.UTC(2026, 0, 5);
const [A, B] = ['198.51.100.10', '198.51.100.11'];
const [OPEN_PORT, DENIED_PORT] = [5_000, 5_001];
const FLUSHES = 5;
const BETWEEN_MS = 300;
const LOOK_MS = 20;
/** Of the aim, with a machine that has other work. */
const RESTORED_MS = 1_000;
/** From a change of the host's rules; a look by itself comes each minute alone. */
const SAID_MS = 10_000;
const MANY = 10_000;

const TABLE_ALONE: [string, string[]][] = [
  ['flush table', ['flush', 'table', 'inet', 'mesh_eth0']],
  ['delete table', ['delete', 'table', 'inet', 'mesh_eth0']],
];

const permit = (address: string, port: number): FirewallEntry => ({
  cidr: `${address}/32`,
  protocol: 'UDP',
  from: port,
  to: port,
});
const others = Array.from({ length: MANY - 1 }, (_, index) => permit(`10.0.${index >> 8}.${index & 255}`, 53));

/** A flood to a permitted and to a denied port, from `a` to `b`, whose firewall something removes meanwhile. */
async function flooded(rules: readonly FirewallEntry[], remove: readonly string[]) {
  await using lab = await natlab({ hosts: { a: {}, b: {} } });
  const [a, b, counter] = [labParts(lab.host('a')), labParts(lab.host('b'), 'eth0'), labParts(lab.host('b'))];
  await b.keepFirewall({ in: rules, out: [] }, NOW);
  await b.countOn(OPEN_PORT);
  await counter.countOn(DENIED_PORT);
  for (let flush = 1; flush <= FLUSHES; flush += 1) {
    const flood = Promise.all([a.flood(B, OPEN_PORT, BETWEEN_MS), a.flood(B, DENIED_PORT, BETWEEN_MS)]);
    await after(BETWEEN_MS / 3);
    await lab.host('b').must('nft', remove);
    while (((await b.restored()) ?? 0) < flush) await after(LOOK_MS);
    await flood;
  }
  const seen = { open: await b.counted(), denied: await counter.counted(), restored: await b.restored() };
  await b.stopKeeping();
  const left = await lab.host('b').must('nft', ['list', 'tables']);
  if (isLong) console.log(remove.join(' '), rules.length, JSON.stringify(seen));
  return { ...seen, left };
}

describePrivileged('the firewall of a node whose host loads another', () => {
  it.each([['flush ruleset', ['flush', 'ruleset']], ...(isLong ? TABLE_ALONE : [])])(
    'lets no denied packet in while %s takes it away, and is back in force at once',
    async (_, remove) => {
      const { open, denied, restored, left } = await flooded([permit(A, OPEN_PORT)], remove);
      expect([denied?.datagrams, restored, left]).toEqual([0, FLUSHES, '']);
      expect(open?.silenceMs).toBeLessThan(RESTORED_MS);
    },
  );
});

const RULESETS = path.resolve(import.meta.dirname, '../kits/lab/rulesets');
/** A host that lets in what it asked for, WireGuard and ssh. */
const CLOSED = `table inet filter {
 chain input {
  type filter hook input priority filter; policy drop;
  ct state established,related accept
  iifname "lo" accept
  udp dport 51820 accept
  tcp dport 22 accept
 }
}
`;
const TWO = '10.96.0.2';

describePrivileged('a node on a host with a firewall of its own', () => {
  it('names the chain that is closed to it and the command that opens it, and opens it where it is asked to, until it is not any more', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const chain = () => lab.host('two').must('nft', ['list', 'chain', 'inet', 'filter', 'input']);
    await lab.host('two').nft(CLOSED);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    const accepts = `iifname "${two.interfaceName}" accept comment "mesh ${two.interfaceName}"`;
    await one.untilPeer('two', ({ path }) => path === 'direct');
    expect(await one.host.reaches(TWO, 2)).toBe(false);
    const blocked =
      /Host firewall +inet filter input \(policy drop\) of nft .* To open it: nft insert rule .*, or while this node is up: (.*mesh up --open-firewall.*)/;
    const said = await two.must(['status']);
    expect(said).toMatch(blocked);
    expect((await two.mesh(['netcheck'])).stdout).toMatch(blocked);
    expect((await two.mesh(['why', 'one', 'two'])).stdout).toContain('inet filter input (policy drop) of nft');

    // The command as it is printed, while the node is up.
    const [, ...hint] = blocked.exec(said)?.[1]?.split(' ') ?? [];
    expect(await two.must(hint)).toMatch(/is up already.*\n.*accepts the overlay by nft until .*mesh down/);
    expect(await chain()).toContain(accepts);
    expect(await one.host.reaches(TWO)).toBe(true);
    expect((await two.status()).firewall).toMatchObject({ blocked: [], opened: 'nft', openTrouble: '' });
    await two.down();
    expect(await chain()).not.toContain('mesh');

    // It is there once the command is back.
    expect(await two.up(['--open-firewall'])).toContain('accepts the overlay by nft');
    expect(await chain()).toContain(accepts);
    expect(await two.must(['status'])).not.toMatch(blocked);
    // As nftables.service does on a reload.
    await two.host.nft(`flush ruleset\n${CLOSED}`);
    expect(await one.host.reaches(TWO)).toBe(true);

    // What a killed agent opened the next one takes away, unless it is asked to open.
    process.kill((await two.status()).node.pid, 'SIGKILL');
    await two.up();
    await two.until(({ firewall }) => firewall.blocked.length > 0);
    expect(await chain()).not.toContain('mesh');
    await two.down();
    await two.up(['--open-firewall']);
    process.kill((await two.status()).node.pid, 'SIGKILL');
    await two.down();
    expect(await chain()).not.toContain('mesh');
    await one.down();
  });

  it('says and opens at once what somebody closes while it is up, though nobody asks it', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const host = lab.host('two');
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    await one.untilPeer('two', ({ path }) => path === 'direct');
    await host.nft(
      `table inet filter { chain input { type filter hook input priority filter; iifname "${two.interfaceName}" drop; }; }\n`,
    );
    await expect.poll(() => two.log, { timeout: SAID_MS }).toMatch(/inet filter input \(rule handle \d+: iifname /);
    await two.down();
    await two.up(['--open-firewall']);
    await host.nft(`delete table inet filter\n${CLOSED}`);
    await expect.poll(() => one.host.reaches(TWO, 1), { timeout: SAID_MS }).toBe(true);
    await Promise.all([one.down(), two.down()]);
  });

  it.skipIf(!isInstalled('ufw'))('has ufw open it and close it again, also after a restart of the host', async () => {
    await using lab = await natlab({ hosts: { one: {}, two: {} } });
    await using plane = await startLabPlane(lab);
    const host = lab.host('two');
    // Of this host alone: what lies there stands in the place of /etc.
    cpSync('/etc/ufw', `/etc/netns/${host.namespace}/ufw`, { recursive: true });
    await host.must('ufw', ['allow', '51820/udp']);
    await host.must('ufw', ['--force', 'enable']);
    const { one, two } = await labNodes(lab, plane, ['one', 'two'], (node) => node.up());
    const added = async () => (await host.must('ufw', ['show', 'added'])).split('\n').slice(1, -1);
    await one.untilPeer('two', ({ path }) => path === 'direct');
    await two.until(({ firewall }) => firewall.blocked.length > 0);
    expect((await two.status()).firewall.blocked).toMatchObject([
      { table: 'ip filter', chain: 'INPUT', rule: null, what: ['all'], text: expect.stringContaining('of ufw') },
    ]);
    await two.down();
    const before = await added();
    expect(await two.up(['--open-firewall'])).toContain('accepts the overlay by ufw');
    const rule = `ufw allow in on ${two.interfaceName} comment 'mesh ${two.interfaceName}'`;
    expect(await added()).toEqual([...before, rule]);
    expect((await two.status()).firewall).toMatchObject({ blocked: [], notJudged: [], opened: 'ufw' });
    process.kill((await two.status()).node.pid, 'SIGKILL');
    // As a restart of the host: what a node notes of itself is gone, and ufw has its rules.
    rmSync(`/var/run/mesh/${two.interfaceName}/node.json`);
    await two.down();
    expect(await added()).toEqual(before);
    await one.down();
  });
});

describeLong('the firewall of a node whose host loads another', () => {
  it('does so with ten thousand entries', async () => {
    const { open, denied } = await flooded([...others, permit(A, OPEN_PORT)], ['flush', 'ruleset']);
    expect([denied?.datagrams, (open?.datagrams ?? 0) > 0]).toEqual([0, true]);
  });
});

describeLong('a node on a host with a firewall of its own', () => {
  it.each(['docker', 'firewalld', 'ufw'])('holds its policy when the rules of %s arrive, and go', async (tool) => {
    await using lab = await natlab({ hosts: { a: {}, b: {} } });
    const [a, b, counter] = [labParts(lab.host('a')), labParts(lab.host('b'), 'eth0'), labParts(lab.host('b'))];
    await b.keepFirewall({ in: [permit(A, OPEN_PORT)], out: [] }, NOW);
    await b.countOn(OPEN_PORT);
    await counter.countOn(DENIED_PORT);
    const flood = Promise.all([a.flood(B, OPEN_PORT, 4 * BETWEEN_MS), a.flood(B, DENIED_PORT, 4 * BETWEEN_MS)]);
    await after(BETWEEN_MS);
    await lab.host('b').must('nft', ['-f', path.join(RULESETS, `${tool}.nft`)]);
    await after(BETWEEN_MS);
    await lab.host('b').must('nft', ['flush', 'ruleset']);
    await flood;
    const before = (await b.counted())?.datagrams ?? 0;
    await a.flood(B, OPEN_PORT, BETWEEN_MS);
    expect([(await counter.counted())?.datagrams, ((await b.counted())?.datagrams ?? 0) > before]).toEqual([0, true]);
    await b.stopKeeping();
  });
});
