import { expect, it } from 'vitest';
import { nftablesFirewall } from './nftables.ts';

const NOW = Date.UTC(2026, 0, 5);
const OWN = { address: '10.96.0.1', cidr: '10.96.0.0/24' };
const NOTHING = { in: [], out: [] };
const LEASE_MS = 60_000;
const ELEMENTS = '10.96.0.1 timeout 1m expires 59s996ms';

/** An nft that prints what it holds; the looks at chains, at rules and at elements take 1, 2 and 10 ms. */
function nft() {
  const state = { time: 0, chains: 'chains', rules: 'rules', elements: ELEMENTS, loads: 0, renewals: 0, refusal: '' };
  const did: string[] = [];
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
        const isRenewal = stdin.startsWith('add element');
        if (isRenewal && state.chains !== 'chains') return { code: 1, stdout: '', stderr: 'No such file or directory' };
        state.renewals += isRenewal ? 1 : 0;
        state.loads += stdin.includes('chain') ? 1 : 0;
        if (!isRenewal) Object.assign(state, { chains: 'chains', rules: 'rules', elements: ELEMENTS });
        return { code: 0, stdout: '', stderr: '' };
      }
      const { tookMs, text } = shown()[command as keyof ReturnType<typeof shown>];
      state.time += tookMs;
      return { code: 0, stdout: `table inet other {\n}\ntable inet mesh_mesh0 {\n${text}\n}\n`, stderr: '' };
    },
    elapsed: () => state.time,
    leaseMs: LEASE_MS,
  });
  return { state, did, firewall };
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

it('puts nothing back after it was closed', async () => {
  const { state, firewall } = nft();
  await firewall.apply(OWN, NOTHING, NOW);
  await firewall.close();
  state.chains = 'gone';
  expect([await firewall.maintain(), state.loads]).toEqual([false, 1]);
});
