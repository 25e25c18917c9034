import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { runProgram } from '../../run-program.ts';
import { judgementOf } from './blockages.ts';
import type { Newcomer } from './facts.ts';
import { conditionsOf, savedRules } from './iptables.ts';
import { metTables } from './met-tables.ts';
import { isNftName, nftName } from './nft-name.ts';
import { readRuleset } from './read-ruleset.ts';
import { chainsOf, parseListing, type Ruleset, type Statement } from './ruleset.ts';
import { fateOf } from './verdict.ts';

const readBy = async (run: typeof runProgram) => readRuleset(await metTables('mesh0', run), run);
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

const meta = (key: string) => ({ meta: { key } });
const tcp = (field: string) => ({ payload: { protocol: 'tcp', field } });
const STATE = { ct: { key: 'state' } };
const match = (op: string, left: unknown, right: unknown) => ({ match: { op, left, right } });
const masked = (...names: readonly string[]) => ({ '&': [tcp('flags'), names] });
const OLD = ['established', 'related'];

test.each<[string, Statement, 'yes' | 'no' | 'unknown']>([
  ['meta mark 1', match('==', meta('mark'), 1), 'no'],
  ['meta mark != 1', match('!=', meta('mark'), 1), 'yes'],
  ['meta mark 0', match('==', meta('mark'), 0), 'yes'],
  ['meta mark & 0xff == 1', match('==', { '&': [meta('mark'), 255] }, 1), 'no'],
  ['ct mark 1', match('==', { ct: { key: 'mark' } }, 1), 'no'],
  ['meta hour', match('==', meta('hour'), { range: ['08:00', '12:00'] }), 'unknown'],
  ['meta length 0-1500', match('==', meta('length'), { range: [0, 1_500] }), 'yes'],
  ['meta length 0-41', match('==', meta('length'), { range: [0, 41] }), 'unknown'],
  ['meta length > 1000', match('>', meta('length'), 1_000), 'no'],
  ['tcp sport 53', match('==', tcp('sport'), 53), 'no'],
  ['tcp sport 1024-65535', match('==', tcp('sport'), { range: [1_024, 65_535] }), 'yes'],
  ['tcp sport 1024-50000', match('==', tcp('sport'), { range: [1_024, 50_000] }), 'unknown'],
  ['ct state established,related', match('in', STATE, OLD), 'no'],
  ['ct state ! established,related', match('!', STATE, OLD), 'yes'],
  ['ct state != established,related', match('!=', STATE, { '|': OLD }), 'yes'],
  ['ct state ! new', match('!', STATE, 'new'), 'no'],
  ['ct state tomorrow', match('in', STATE, 'tomorrow'), 'unknown'],
  ['tcp flags ! ack', match('!', tcp('flags'), 'ack'), 'yes'],
  ['tcp flags syn', match('in', tcp('flags'), 'syn'), 'yes'],
  ['tcp flags ! ecn', match('!', tcp('flags'), 'ecn'), 'unknown'],
  ['tcp flags == syn', match('==', tcp('flags'), 'syn'), 'unknown'],
  ['tcp flags & (syn|ack) != ack', match('!=', masked('syn', 'ack'), 'ack'), 'yes'],
  ['tcp flags & (syn|ack) != syn', match('!=', masked('syn', 'ack'), 'syn'), 'no'],
  ['tcp flags & (syn|ack) == syn|ack', match('==', masked('syn', 'ack'), ['syn', 'ack']), 'no'],
  ['tcp flags & ack == 0', match('==', masked('ack'), 0), 'yes'],
  ['oifname != "eth0"', match('!=', meta('oifname'), 'eth0'), 'yes'],
  ['oif "eth0"', match('==', meta('oif'), 'eth0'), 'no'],
  ['an operator of tomorrow', match('~', meta('mark'), 0), 'unknown'],
  ['a part of the peers', match('==', { payload: { protocol: 'ip', field: 'saddr' } }, '10.96.0.2'), 'unknown'],
])('%s is held to the first packet of a connection, whether it accepts or drops', (_, condition, held) => {
  const packet = { ...PACKET, from: held === 'unknown' ? '10.96.0.0/24' : PACKET.from };
  const fate = (...exprs: readonly unknown[]) => fateOf(rulesetOf(...exprs), packet).is;
  expect([
    fate([condition, { accept: null }], [{ drop: null }]),
    fate([condition, { drop: null }], [{ accept: null }]),
  ]).toEqual({ yes: ['let in', 'dropped'], no: ['dropped', 'let in'], unknown: ['unknown', 'unknown'] }[held]);
});

test('a mark that a rule wrote is not known after it, and a limit lets some in', () => {
  const isMarked = [match('==', meta('mark'), 7), { accept: null }];
  const marks = [{ mangle: { key: meta('mark'), value: 7 } }];
  expect(fateOf(rulesetOf(marks, isMarked, [{ drop: null }]), PACKET).is).toBe('unknown');
  expect(fateOf(rulesetOf(isMarked, marks, [{ drop: null }]), PACKET).is).toBe('dropped');
  expect(fateOf(rulesetOf([{ limit: {} }, { accept: null }], [{ drop: null }]), PACKET).is).toBe('let in');
  expect(fateOf(rulesetOf([{ mangle: { key: meta('pkttype') } }], [{ drop: null }]), PACKET).is).toBe('unknown');
});

test('what is translated for some is followed no further, and what is let in there goes on', () => {
  const nat = { ...INPUT, name: 'nat', type: 'nat', hook: 'prerouting' };
  const rule = (chain: string, ...expr: readonly unknown[]) => ({
    rule: { family: 'inet', table: 'filter', chain, handle: 1, expr },
  });
  const fate = (...then: readonly unknown[]) => {
    const listing = [{ chain: nat }, { chain: INPUT }, rule('nat', match('==', meta('skuid'), 0), ...then)];
    const chains = chainsOf([...listing, rule('input', { drop: null })]);
    return fateOf({ chains, sets: new Map(), unread: [] }, PACKET).is;
  };
  expect([fate({ accept: null }), fate({ dnat: {} })]).toEqual(['dropped', 'unknown']);
});

test('peers are told apart where a rule does so, and not looked at one by one where none does', async () => {
  const permitted = [2, 3, 4].map((host) => ({
    cidr: `10.96.0.${host}/32`,
    protocol: 'TCP' as const,
    from: 22,
    to: 22,
  }));
  const judged = async (...exprs: readonly unknown[]) => {
    const { blockages, notJudged } = await judgementOf(
      rulesetOf(...exprs),
      'mesh0',
      { address: '10.96.0.1', cidr: '10.96.0.0/24' },
      { in: permitted, out: [] },
    );
    return [...blockages, ...notJudged].map(({ what }) => what);
  };
  const from = (address: string) => match('==', { payload: { protocol: 'ip', field: 'saddr' } }, address);
  expect(await judged([from('10.96.0.2'), { drop: null }])).toEqual([['TCP 22 from 10.96.0.2']]);
  expect(await judged([from('10.96.0.4'), { accept: null }], [{ drop: null }])).toEqual([
    ['TCP 22 from 10.96.0.2', 'TCP 22 from 10.96.0.3'],
  ]);
  expect(await judged([{ drop: null }])).toEqual([['TCP 22']]);
});

test('a name that nft could read as a command is not given to it', async () => {
  const did: string[] = [];
  const table = 'x; include "/etc/shadow"';
  const chain = { ...INPUT, table };
  const { unread } = await readBy(async (file, args) => {
    did.push([file, ...args].join(' '));
    const isList = args.includes('chains');
    return { code: 0, stdout: isList ? JSON.stringify({ nftables: [{ chain }] }) : '', stderr: '' };
  });
  expect(unread).toEqual([expect.stringContaining('has a name that is not given to nft')]);
  expect(did.filter((line) => line.includes('include'))).toEqual([]);
  for (const name of ['inet filter; list', 'inet a\nb', 'inet -f', 'file x', 'inet', 'inet  x'])
    expect([name, isNftName(name)]).toEqual([name, false]);
  expect(nftName('inet filter DOCKER-USER')).toEqual(['inet', 'filter', 'DOCKER-USER']);
});

test('rules of iptables-legacy, which nft does not list, are not judged', async () => {
  const { unread } = await readBy(async (_, [last = '']) => ({
    code: 0,
    stdout: last === '/proc/net/ip_tables_names' ? 'filter\nnat\n' : last.startsWith('/proc') ? '' : '{"nftables": []}',
    stderr: '',
  }));
  expect(unread).toEqual(['iptables-legacy has a table filter, nat, whose rules are not read']);
});

test('of the tables of nodes those of this one alone are passed over', async () => {
  const names = ['mesh_mesh0', 'mesh_guard_mesh0', 'mesh_ice_mesh0', 'mesh_relay_51820', 'mesh_mesh1', 'mesh_x'];
  const listed: string[] = [];
  await readBy(async (_, args) => {
    if (args.includes('table')) listed.push(args.at(-1) ?? '');
    return {
      code: 0,
      stdout: JSON.stringify({ nftables: names.map((table) => ({ chain: { ...INPUT, table } })) }),
      stderr: '',
    };
  });
  expect(listed).toEqual(['mesh_mesh1', 'mesh_x']);
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
    '-p tcp --sport 53',
    '-m comment --comment -i -m limit --limit 3/min',
    '-m addrtype --limit-iface-in',
    '-p icmp --icmp-type any',
  ];
  const flags = '-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK';
  expect([...yes, `${flags} SYN`, '-m comment --comment "! -i mesh0"'].map(fate)).not.toContain(false);
  expect([...no, `${flags} NONE`, '-m owner --uid-owner 0'].map(fate)).not.toContain(true);
});
