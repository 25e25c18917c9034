import { expect, it } from 'vitest';
import { nftablesFirewall } from './nftables.ts';

const NOW = Date.UTC(2026, 0, 5);
const OWN = { address: '10.96.0.1', cidr: '10.96.0.0/24' };
const NOTHING = { in: [], out: [] };
const LEASE_MS = 60_000;
const ELEMENTS = '10.96.0.1 timeout 1m expires 59s996ms';

/** An nft that prints what it holds, and tells of what it removes; the looks at chains, at rules and at elements take 1, 2 and 10 ms. */
function nft() {
  const state = {
    time: 0,
    chains: 'chains',
    rules: 'rules',
    elements: ELEMENTS,
    loads: 0,
    renewals: 0,
    refusal: '',
    isGone: false,
  };
  const did: string[] = [];
  /** Lines for `nft monitor` to print, each at the next step of the loop. */
  let tell: (line: string) => void = () => {};
  const shown = () => ({
    'list chains inet': { tookMs: 1, text: state.chains },
    '-t list ruleset inet': { tookMs: 2, text: `${state.chains}\n${state.rules}` },
    'list table inet mesh_mesh0': { tookMs: 10, text: `${state.chains}\n${state.rules}\n${state.elements}` },
  });
  const firewall = nftablesFirewall('mesh0', {
    async run(_, args, { stdin = '' } = {}) {
      const command = args.join(' ');
      did.push(command);
      if (state.refusal !== '') return { code: 1, stdout: '', stderr: state.refusal };
      if (args[0] === '-f') {
        for (const line of stdin.split('\n').filter((one) => one.startsWith('delete '))) setImmediate(() => tell(line));
        const isRenewal = /^add element/m.test(stdin);
        if (isRenewal && state.chains !== 'chains') return { code: 1, stdout: '', stderr: 'No such file or directory' };
        state.renewals += isRenewal ? 1 : 0;
        state.loads += stdin.includes('chain') ? 1 : 0;
        if (!isRenewal) Object.assign(state, { chains: 'chains', rules: 'rules', elements: ELEMENTS, isGone: false });
        return { code: 0, stdout: '', stderr: '' };
      }
      const { tookMs, text } = shown()[command as keyof ReturnType<typeof shown>];
      state.time += tookMs;
      if (state.isGone) return { code: 1, stdout: '', stderr: 'No such file or directory' };
      return { code: 0, stdout: `table inet other {\n}\ntable inet mesh_mesh0 {\n${text}\n}\n`, stderr: '' };
    },
    elapsed: () => state.time,
    leaseMs: LEASE_MS,
    start: (_file, _args, onLine) => {
      tell = onLine;
      return { ended: new Promise(() => {}), end: async () => {} };
    },
  });
  return { state, did, firewall, tell: (line: string) => tell(line) };
}

it('looks at its chains each time, and at those of no other table', async () => {
  const { state, did, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  did.length = 0;
  expect([await firewall.maintain(), did]).toEqual([false, ['list chains inet']]);
  state.chains = 'none';
  expect([await firewall.maintain(), await firewall.maintain(), state.loads]).toEqual([true, false, 2]);
});

it.each([
  ['rules', 'two hundredth', 200 * 2],
  ['elements', 'four hundredth', 400 * 10],
] as const)('looks at its %s so seldom that it takes a %s of the time', async (part, _, everyMs) => {
  const { state, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  state[part] = 'others';
  expect(await firewall.maintain()).toBe(false);
  state.time += everyMs;
  expect([await firewall.maintain(), state.loads]).toEqual([true, 2]);
  expect(await firewall.maintain()).toBe(false);
});

it('renews its lease each quarter of it, and takes what is left of it for no change', async () => {
  const { state, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  const renewals = [];
  for (let second = 0; second < 60; second += 5) {
    state.time += 5_000;
    state.elements = `10.96.0.1 timeout 1m expires ${second}s1ms`;
    expect(await firewall.maintain()).toBe(false);
    renewals.push(state.renewals);
  }
  expect([renewals, state.loads]).toEqual([[0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4], 1]);
});

it('puts back at once what it cannot renew', async () => {
  const { state, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  Object.assign(state, { chains: 'gone', time: state.time + LEASE_MS });
  expect([await firewall.maintain(), await firewall.maintain(), state.loads]).toEqual([true, false, 2]);
});

it('says what nft refused, and goes on with the rules it has', async () => {
  const { state, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  state.refusal = '/dev/stdin:3:1-5: Error: syntax error\nmore';
  await expect(firewall.apply(OWN, NOTHING, NOW)).rejects.toThrow('of mesh0: /dev/stdin:3:1-5: Error: syntax error');
  state.refusal = '';
  expect([await firewall.maintain(), state.loads]).toEqual([false, 1]);
});

it('lets rules end that it should replace and cannot, and keeps the next that nft takes', async () => {
  const { state, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  state.refusal = 'no memory';
  await expect(firewall.apply(OWN, NOTHING, NOW)).rejects.toThrow('no memory');
  state.refusal = '';
  state.time += LEASE_MS;
  expect([await firewall.maintain(), state.renewals, state.loads]).toEqual([false, 0, 1]);
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  state.time += LEASE_MS / 4;
  expect([await firewall.maintain(), state.renewals, state.loads]).toEqual([false, 1, 2]);
});

it('puts nothing back after it was closed', async () => {
  const { state, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.close();
  state.chains = 'gone';
  expect([await firewall.maintain(), state.loads]).toEqual([false, 1]);
});

/** Watched, with one load in force. */
async function watched() {
  const all = nft();
  const { firewall } = all;
  const told: string[] = [];
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.maintain();
  firewall.watch(
    () => told.push('removed'),
    () => told.push('host'),
  );
  return { ...all, told };
}
const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

it('takes no change of its own for a removal, neither rules nor the lease', async () => {
  const { state, firewall, told } = await watched();
  const applied = firewall.apply(OWN, NOTHING, NOW);
  const meanwhile = firewall.maintain('closely');
  await applied;
  await settled();
  state.time += LEASE_MS / 4;
  const renewed = await firewall.maintain();
  await settled();
  expect([told, await meanwhile, renewed, state.loads, state.renewals]).toEqual([[], false, false, 2, 1]);
});

it('puts back what others removed right after a load, before anything looked at it', async () => {
  const { state, firewall, tell, told } = await watched();
  await firewall.apply(OWN, NOTHING, NOW);
  await settled();
  Object.assign(state, { chains: 'empty' });
  tell('delete rule inet mesh_mesh0 c_input handle 7');
  expect([told, await firewall.maintain('closely'), state.loads]).toEqual([['removed'], true, 3]);
  expect([await firewall.maintain(), state.loads]).toEqual([false, 3]);
});

it('loads once for all that one removal tells of, however late it does', async () => {
  const { state, firewall, tell, told } = await watched();
  tell('delete rule inet mesh_mesh0 c_input handle 7');
  const first = firewall.maintain('closely');
  tell('delete chain inet mesh_mesh0 c_input');
  tell('delete table inet mesh_mesh0');
  expect([await first, told.length, await firewall.maintain('closely'), state.loads]).toEqual([true, 3, false, 2]);
});

it('hears of its own table alone, and looks closely where nft lost what the kernel told', async () => {
  const { state, firewall, tell, told } = await watched();
  for (const line of [
    'delete table inet mesh_mesh01',
    'delete table ip mesh_mesh0',
    'add rule inet mesh_mesh0 c_input accept',
    'add table inet mesh_mesh0/begin/6f0c81d2b7a94e53/7',
    '# new generation 7 by process 1 (nft)',
  ])
    tell(line);
  expect(told).toEqual([]);
  state.elements = 'fewer';
  tell('# ERROR: We lost some netlink events!');
  expect([told, await firewall.maintain('closely'), state.loads]).toEqual([['removed', 'host'], true, 2]);
});

it.each([
  'add table ip nat',
  'add chain inet filter input { type filter hook input priority 0; policy drop; }',
  'insert rule ip filter INPUT tcp dport 22 drop',
  'add element inet filter banned { 10.96.0.2 }',
  'delete rule inet filter input handle 9',
])('hears that the host has other rules: %s', async (line) => {
  const { tell, told } = await watched();
  tell(line);
  expect(told).toEqual(['host']);
});

it('takes no table that is gone for whole', async () => {
  const { state, firewall } = nft();
  const applied = firewall.apply(OWN, NOTHING, NOW);
  await applied;
  state.isGone = true;
  expect([await firewall.maintain(), state.loads]).toEqual([true, 2]);
});
