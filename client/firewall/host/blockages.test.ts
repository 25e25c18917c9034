import { readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import type { FirewallEntry } from '../../../core/model/graph.ts';
import { blockagesOf, textOf } from './blockages.ts';
import { parseRuleset } from './ruleset.ts';

const OWN = { address: '10.96.0.1', cidr: '10.96.0.0/24' };
const entry = (protocol: FirewallEntry['protocol'], from?: number): FirewallEntry => ({
  cidr: '10.96.0.2/32',
  protocol,
  ...(from !== undefined && { from, to: from }),
});
const ALL_IN = [entry('TCP', 22), entry('TCP', 5_432), entry('UDP', 53), entry('ICMP')];

/** As nft lists it: each rule with a handle. */
function listed(rules: string): string {
  let handle = 0;
  return rules.replace(/^(\t\t(?!type ).+)$/gm, (line) => {
    handle += 1;
    return `${line} # handle ${handle}`;
  });
}

const recorded = (name: string) =>
  listed(readFileSync(new URL(`../../../test/kits/lab/rulesets/${name}.nft`, import.meta.url), 'utf8'));
const dropped = (listing: string, rules: readonly FirewallEntry[] = ALL_IN) =>
  blockagesOf(parseRuleset(listing), 'mesh0', OWN, { in: [...rules], out: [] }).map(textOf);
/** An input chain with these rules. */
const input = (policy: string, ...rules: readonly string[]) =>
  listed(`table inet filter {
	chain web {
		tcp dport { 80, 443 } accept
	}
	chain input {
		type filter hook input priority filter; policy ${policy};
${rules.map((rule) => `\t\t${rule}\n`).join('')}	}
}
`);
const USUAL = ['ct state established,related accept', 'iifname "lo" accept'];

test('a policy that drops is named with its chain, and with what of the permitted it drops', () => {
  expect(dropped(input('drop', ...USUAL, 'tcp dport 22 accept'))).toEqual([
    'inet filter input (policy drop) drops TCP 5432, UDP 53, ICMP',
  ]);
});

test('ufw is named by the chain whose policy drops, and what it allows is not', () => {
  expect(dropped(recorded('ufw'))).toEqual(['ip filter INPUT (policy drop) drops TCP 5432, UDP 53']);
});

test('firewalld is named by the rule that rejects', () => {
  expect(dropped(recorded('firewalld'))).toEqual([
    expect.stringMatching(
      /^inet firewalld filter_IN_public \(rule handle \d+: reject with icmpx admin-prohibited\) drops TCP 5432, UDP 53$/,
    ),
  ]);
});

test('Docker drops nothing that comes in', () => {
  expect(dropped(recorded('docker'))).toEqual([]);
});

it.each([
  ['it accepts the interface', ['iifname "mesh0" accept']],
  ['it accepts interfaces by the beginning of their name', ['iifname "mesh*" accept']],
  ['it accepts the block of the overlay', ['ip saddr 10.96.0.0/16 accept']],
  ['it accepts all but another interface', ['iifname != "eth0" accept']],
  ['a set that is not looked into may accept it', ['ip saddr @friends accept']],
  ['an expression that is not known may accept it', ['xt match "owner" counter packets 0 bytes 0 accept']],
  ['a map that is not looked into may accept it', ['iifname vmap @zones']],
  ['a map accepts it', ['iifname vmap { "lo" : accept, "mesh0" : accept }']],
  ['it may leave the chain before', ['limit rate 3/second return', 'accept']],
])('nothing is said to drop where %s', (_, rules) => {
  expect(dropped(input('drop', ...USUAL, ...rules))).toEqual([]);
});

it.each([
  ['a rule drops it', ['iifname "mesh0" drop'], 'rule handle 2: iifname "mesh0" drop'],
  ['a map drops it', ['iifname vmap { "mesh0" : drop }'], 'rule handle 2: iifname vmap { "mesh0" : drop }'],
  ['a rule drops what is new', ['ct state new counter packets 1 bytes 2 drop'], 'rule handle 2: ct state new counter'],
])('%s: it is named by its handle', (_, rules, name) => {
  const [said = ''] = dropped(input('accept', ...rules), [entry('TCP', 5_432)]);
  expect(said).toContain(`inet filter input (${name}`);
});

test('a chain that is jumped to decides by its rules, and the one before goes on where it does not', () => {
  const listing = input('drop', 'jump web');
  expect(dropped(listing, [entry('TCP', 80), entry('TCP', 81)])).toEqual([
    'inet filter input (policy drop) drops TCP 81',
  ]);
});

test('tables of nodes, other families and other hooks have no say', () => {
  const chain = (table: string, hook: string) =>
    listed(`table ${table} {\n\tchain c {\n\t\ttype filter hook ${hook} priority 0; policy drop;\n\t}\n}\n`);
  const all = ['inet mesh_mesh0 input', 'ip6 filter input', 'ip filter forward', 'ip filter output'].map((one) => {
    const [family, table, hook = ''] = one.split(' ');
    return chain(`${family} ${table}`, hook);
  });
  expect(dropped(all.join(''))).toEqual([]);
});

test('a connection that may be any is looked at as one that no service answers', () => {
  expect(dropped(input('drop', 'tcp dport 22 accept'), [entry('ALL')])).toEqual([
    'inet filter input (policy drop) drops all',
  ]);
});
