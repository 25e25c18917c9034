import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Newcomer } from './facts.ts';
import { conditionsOf, savedRules } from './iptables.ts';

import { chainsOf, parseListing, type Ruleset } from './ruleset.ts';
import { fateOf } from './verdict.ts';

const PACKET: Newcomer = { interfaceName: 'mesh0', from: '10.96.0.2/32', to: '10.96.0.1', protocol: 'TCP', port: 22 };
const INPUT = {
  family: 'inet',
  table: 'filter',
  name: 'input',
  type: 'filter',
  hook: 'input',
  prio: 0,
  policy: 'accept',
};
const rulesetOf = (...exprs: readonly unknown[]): Ruleset => ({
  chains: chainsOf([
    { chain: INPUT },
    ...exprs.map((expr, at) => ({ rule: { family: 'inet', table: 'filter', chain: 'input', handle: at, expr } })),
  ]),
  sets: new Map(),
  unread: [],
});

test('a listing that was cut anywhere is none', () => {
  const text = JSON.stringify({ nftables: [{ chain: INPUT }] });
  expect(parseListing(text)).toEqual([{ chain: INPUT }]);
  for (let end = 0; end < text.length; end += 1) expect(parseListing(text.slice(0, end))).toBeUndefined();
});

test('whatever nft may print never throws, and a statement that nobody knows is never taken for letting in or dropping', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { maxLength: 5 }), (expr) => {
      const { is } = fateOf(rulesetOf(expr, [{ drop: null }]), PACKET);
      return ['dropped', 'let in', 'unknown'].includes(is);
    }),
  );
  expect(fateOf(rulesetOf([{ 'statement of tomorrow': {} }]), PACKET).is).toBe('unknown');
  expect(fateOf(rulesetOf([{ 'statement of tomorrow': {} }], [{ drop: null }]), PACKET).is).toBe('unknown');
  expect(fateOf(rulesetOf('no list'), PACKET).is).toBe('unknown');
});

test('chains that jump to each other more often than can be followed are not judged', () => {
  const names = Array.from({ length: 15 }, (_, at) => `c${at}`);
  const chain = (name: string) => ({ chain: { ...INPUT, name, hook: undefined } });
  const jumps = (from: string, target: string) =>
    [1, 2].map((handle) => ({
      rule: { family: 'inet', table: 'filter', chain: from, handle, expr: [{ jump: { target } }] },
    }));
  const listing = [
    { chain: INPUT },
    ...names.map(chain),
    ...jumps('input', 'c0'),
    ...names.slice(1).flatMap((name, at) => jumps(`c${at}`, name)),
  ];
  const fate = fateOf({ chains: chainsOf(listing), sets: new Map(), unread: [] }, PACKET);
  expect(fate).toEqual({ is: 'unknown', why: 'more than 20000 rules' });
});

test('rules of iptables are read with what their options say, and no more', () => {
  const saved = savedRules('*filter\n:INPUT DROP [0:0]\n-A INPUT -i eth+ -j DROP\n-A INPUT -j web\n-A web\nCOMMIT\n');
  expect([...saved]).toEqual([
    ['INPUT', ['-i eth+ -j DROP', '-j web']],
    ['web', ['']],
  ]);
  const fate = (line: string) =>
    fateOf(rulesetOf([...conditionsOf(line, 'ip'), { drop: null }]), PACKET).is === 'dropped';
  const yes = [
    '-i mesh+',
    '! -i lo',
    '-s 10.0.0.0/8',
    '-p tcp -m tcp --dport 20:25',
    '-m state --state NEW',
    '-p 6',
    '',
  ];
  const no = [
    '-i eth0',
    '! -s 10.0.0.0/8',
    '-p udp -m udp --dport 22',
    '-m conntrack ! --ctstate NEW',
    '-p icmp --icmp-type any',
  ];
  const flags = '-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK';
  expect([...yes, `${flags} SYN`, '-m comment --comment "! -i mesh0"'].map(fate)).not.toContain(false);
  expect([...no, `${flags} NONE`, '-m owner --uid-owner 0'].map(fate)).not.toContain(true);
});
