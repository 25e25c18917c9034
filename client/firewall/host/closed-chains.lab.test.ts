import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Natlab, natlab } from '../../../test/kits/lab/natlab.ts';
import { describePrivileged } from '../../../test/kits/lab/privileged.ts';
import { isInstalled } from '../../../test/kits/process/needs.ts';
import { runIn } from '../../run-program.ts';
import { closedChains, closedText } from './closed-chains.ts';

const RULESETS = path.resolve(import.meta.dirname, '../../../test/kits/lab/rulesets');
const USUAL = ['ct state established,related accept', 'iifname "lo" accept', 'tcp dport 22 accept'];
const input = (policy: string, rules: readonly string[]) => `table inet filter {
 chain refuse { counter; reject; }
 chain local { fib daddr type local return; drop; }
 chain trusted { tcp dport 1 drop; accept; }
 chain zones { iifname "eth1" goto refuse; iifname "mesh0" goto trusted; }
 chain input {
  type filter hook input priority filter; policy ${policy};
  ${rules.join('\n  ')}
 }
}
`;
const closed = (by: string) =>
  `inet filter input (${by}) of nft lets in from mesh0 only what other rules accept. To open it: nft insert rule inet filter input iifname mesh0 accept`;

describePrivileged('the chains of a host that are closed to the overlay', () => {
  let lab: Natlab;
  beforeAll(async () => {
    lab = await natlab({ hosts: { a: {}, iptables: {}, legacy: {}, ufw: {} } });
  });
  afterAll(() => lab[Symbol.asyncDispose]());
  const judged = async (host = 'a') => {
    const { manager, closed, unread } = await closedChains('mesh0', runIn(lab.host(host).namespace));
    const texts = closed.map((one) => closedText(one, 'mesh0').replaceAll(/handle \d+/g, 'handle N'));
    return { manager, texts: [...texts, ...unread] };
  };
  const load = (ruleset: string) => lab.host('a').nft(`flush ruleset\n${ruleset}`);
  const loadFile = (name: string) => lab.host('a').must('nft', ['-f', path.join(RULESETS, `${name}.nft`)]);

  it.each([
    ['by its policy', 'drop', USUAL, 'policy drop'],
    ['by a rule for all at its end', 'accept', [...USUAL, 'counter drop'], 'rule handle N: drop'],
    ['by a chain for all at its end', 'accept', [...USUAL, 'jump refuse'], 'rule handle N: reject'],
    ['by a rule for the interface', 'accept', ['iifname "mesh0" drop'], 'rule handle N: iifname "mesh0" drop'],
    ['by a chain that others leave', 'drop', ['jump local', ...USUAL], 'policy drop'],
    ['where it accepts some ports of the interface', 'drop', ['iifname "mesh0" tcp dport 22 accept'], 'policy drop'],
    ['where it accepts others', 'drop', ['iifname != "mesh0" accept'], 'policy drop'],
    ['where a limit lets some in', 'drop', ['limit rate 3/second accept'], 'policy drop'],
  ])('are named %s', async (_, policy, rules, by) => {
    await load(input(policy, rules));
    expect(await judged()).toEqual({ manager: 'nft', texts: [closed(by)] });
  });

  it.each([
    ['a policy that accepts', 'accept', [...USUAL, 'tcp dport 23 drop', 'jump local']],
    ['a rule for the interface', 'drop', [...USUAL, 'iifname "mesh0" counter accept']],
    ['a rule for several interfaces', 'drop', ['iifname { "lo", "mesh0" } accept']],
    ['a rule for interfaces by the beginning of the name', 'drop', ['iifname "mesh*" accept']],
    ['a rule for all interfaces but another', 'drop', ['iifname != "eth0" accept']],
    ['a chain for the interface', 'drop', [...USUAL, 'jump zones', 'reject']],
    ['a rule for all', 'drop', ['tcp dport 23 drop', 'log prefix "drop " accept']],
  ])('are none with %s', async (_, policy, rules) => {
    await load(input(policy, rules));
    expect(await judged()).toEqual({ manager: 'nft', texts: [] });
  });

  it('are none of the node itself, nor of forwarding and IPv6', async () => {
    const table = (name: string, hook: string) =>
      `table ${name} { chain input { type filter hook ${hook} priority filter; policy drop; }; }\n`;
    const own = ['inet mesh_mesh0', 'inet mesh_guard_mesh0', 'inet mesh_ice_mesh0'];
    await load([...own, 'ip6 filter'].map((name) => table(name, 'input')).join('') + table('ip other', 'forward'));
    expect(await judged()).toEqual({ manager: 'nft', texts: [] });
  });

  it('are of firewalld where it has loaded its rules, until its zone trusted has the interface', async () => {
    await load('');
    await loadFile('firewalld');
    expect(await judged()).toEqual({
      manager: 'firewalld',
      texts: [expect.stringMatching(/^inet firewalld filter_INPUT \(rule .*: reject\) of firewalld .*--zone=trusted/)],
    });
    await lab
      .host('a')
      .nft(
        'add chain inet firewalld filter_IN_trusted\nadd rule inet firewalld filter_IN_trusted accept\ninsert rule inet firewalld filter_INPUT_ZONES iifname "mesh0" goto filter_IN_trusted\n',
      );
    expect(await judged()).toEqual({ manager: 'firewalld', texts: [] });
  });

  it('are of ufw where it has loaded its rules, until it allows the interface', async () => {
    await load('');
    await loadFile('ufw');
    await loadFile('docker');
    expect(await judged()).toEqual({
      manager: 'ufw',
      texts: [expect.stringMatching(/^ip filter INPUT \(policy drop\) of ufw .*: ufw allow in on mesh0$/)],
    });
    await lab.host('a').nft('add rule ip filter ufw-user-input iifname "mesh0" counter accept\n');
    expect(await judged()).toEqual({ manager: 'ufw', texts: [] });
  });

  it('are none of Docker', async () => {
    await load('');
    await loadFile('docker');
    expect(await judged()).toEqual({ manager: 'nft', texts: [] });
  });

  it.runIf(isInstalled('iptables-nft')).each(['nft', 'legacy'])('are opened by iptables, of %s', async (kind) => {
    const host = kind === 'nft' ? 'iptables' : 'legacy';
    const iptables = (...args: readonly string[]) => lab.host(host).run(`iptables-${kind}`, args);
    // A kernel may have no iptables-legacy any more.
    if ((await iptables('-P', 'INPUT', 'DROP')).code !== 0) return;
    const { texts } = await judged(host);
    const command = `${kind === 'nft' ? 'iptables' : 'iptables-legacy'} -I INPUT -i mesh0 -j ACCEPT`;
    expect(texts).toEqual([expect.stringMatching(new RegExp(`^ip filter INPUT \\(policy drop\\) .*: ${command}$`))]);
    await iptables('-A', 'INPUT', '-m', 'comment', '--comment', 'the overlay', '-i', 'mesh0', '-j', 'ACCEPT');
    expect((await judged(host)).texts).toEqual([]);
    await iptables('-F', 'INPUT');
    await iptables('-P', 'INPUT', 'ACCEPT');
    await iptables('-A', 'INPUT', '-j', 'REJECT');
    expect((await judged(host)).texts).toEqual([expect.stringContaining('INPUT (rule handle N: reject)')]);
  });

  it('are said to be unknown where nft cannot list them', async () => {
    const { closed, unread } = await closedChains('mesh0', async () => ({ code: 1, stdout: '', stderr: 'busy' }));
    expect([closed, unread]).toEqual([[], ['nft -j list chains failed: busy']]);
  });
});
