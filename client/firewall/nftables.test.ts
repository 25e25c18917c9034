import { expect, it } from 'vitest';
import { nftablesFirewall } from './nftables.ts';

const NOW = Date.UTC(2026, 0, 5);
const NOTHING = { in: [], out: [] };

/** An nft that prints what it holds; a full listing takes `listMs`. */
function nft() {
  const state = { time: 0, listMs: 10, outline: 'rules', elements: 'elements', loads: 0, refusal: '' };
  const did: string[] = [];
  const firewall = nftablesFirewall(
    'mesh0',
    async (_, args, { stdin = '' } = {}) => {
      did.push(args.join(' '));
      if (state.refusal !== '') return { code: 1, stdout: '', stderr: state.refusal };
      if (args[0] === '-f') {
        state.loads += stdin.includes('chain') ? 1 : 0;
        [state.outline, state.elements] = ['rules', 'elements'];
      }
      const table = `table inet mesh_mesh0 {\n${state.outline}\n}\n`;
      if (args[0] === '-t') return { code: 0, stdout: `table inet other {\n}\n${table}`, stderr: '' };
      if (args[0] === 'list') state.time += state.listMs;
      return { code: 0, stdout: `${table}${state.elements}`, stderr: '' };
    },
    () => state.time,
  );
  return { state, did, firewall };
}

it('looks at the elements of sets so seldom that it takes a four hundredth of the time', async () => {
  const { state, did, firewall } = nft();
  await firewall.apply(NOTHING, NOW);
  expect(await firewall.restore()).toBe(false);
  state.elements = 'others';
  did.length = 0;
  expect([await firewall.restore(), did]).toEqual([false, ['-t list ruleset inet']]);
  state.time += 400 * state.listMs;
  expect([await firewall.restore(), state.loads]).toEqual([true, 2]);
  expect(await firewall.restore()).toBe(false);
});

it('looks at its chains and rules each time, and at those of no other table', async () => {
  const { state, firewall } = nft();
  await firewall.apply(NOTHING, NOW);
  expect(await firewall.restore()).toBe(false);
  state.outline = 'other rules';
  expect([await firewall.restore(), await firewall.restore(), state.loads]).toEqual([true, false, 2]);
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
  state.outline = 'gone';
  expect([await firewall.restore(), state.loads]).toEqual([false, 1]);
});
