import { expect, it } from 'vitest';
import { nftablesFirewall } from './nftables.ts';

const NOW = Date.UTC(2026, 0, 5);
const NOTHING = { in: [], out: [] };

/** An nft that prints what it holds; the looks at chains, at rules and at elements take 1, 2 and 10 ms. */
function nft() {
  const state = { time: 0, chains: 'chains', rules: 'rules', elements: 'elements', loads: 0, refusal: '' };
  const did: string[] = [];
  const shown = () => ({
    'list chains inet': { tookMs: 1, text: state.chains },
    '-t list ruleset inet': { tookMs: 2, text: `${state.chains}\n${state.rules}` },
    'list table inet mesh_mesh0': { tookMs: 10, text: `${state.chains}\n${state.rules}\n${state.elements}` },
  });
  const firewall = nftablesFirewall(
    'mesh0',
    async (_, args, { stdin = '' } = {}) => {
      const command = args.join(' ');
      did.push(command);
      if (state.refusal !== '') return { code: 1, stdout: '', stderr: state.refusal };
      if (args[0] === '-f') {
        state.loads += stdin.includes('chain') ? 1 : 0;
        Object.assign(state, { chains: 'chains', rules: 'rules', elements: 'elements' });
        return { code: 0, stdout: '', stderr: '' };
      }
      const { tookMs, text } = shown()[command as keyof ReturnType<typeof shown>];
      state.time += tookMs;
      return { code: 0, stdout: `table inet other {\n}\ntable inet mesh_mesh0 {\n${text}\n}\n`, stderr: '' };
    },
    () => state.time,
  );
  return { state, did, firewall };
}

it('looks at its chains each time, and at those of no other table', async () => {
  const { state, did, firewall } = nft();
  await firewall.apply(NOTHING, NOW);
  await firewall.restore();
  did.length = 0;
  expect([await firewall.restore(), did]).toEqual([false, ['list chains inet']]);
  state.chains = 'none';
  expect([await firewall.restore(), await firewall.restore(), state.loads]).toEqual([true, false, 2]);
});

it.each([
  ['rules', 'two hundredth', 200 * 2],
  ['elements', 'four hundredth', 400 * 10],
] as const)('looks at its %s so seldom that it takes a %s of the time', async (part, _, everyMs) => {
  const { state, firewall } = nft();
  await firewall.apply(NOTHING, NOW);
  await firewall.restore();
  state[part] = 'others';
  expect(await firewall.restore()).toBe(false);
  state.time += everyMs;
  expect([await firewall.restore(), state.loads]).toEqual([true, 2]);
  expect(await firewall.restore()).toBe(false);
});

it('says what nft refused, and goes on with the rules it has', async () => {
  const { state, firewall } = nft();
  await firewall.apply(NOTHING, NOW);
  await firewall.restore();
  state.refusal = '/dev/stdin:3:1-5: Error: syntax error\nmore';
  await expect(firewall.apply(NOTHING, NOW)).rejects.toThrow('of mesh0: /dev/stdin:3:1-5: Error: syntax error');
  state.refusal = '';
  expect([await firewall.restore(), state.loads]).toEqual([false, 1]);
});

it('puts nothing back after it was closed', async () => {
  const { state, firewall } = nft();
  await firewall.apply(NOTHING, NOW);
  await firewall.close();
  state.chains = 'gone';
  expect([await firewall.restore(), state.loads]).toEqual([false, 1]);
});
