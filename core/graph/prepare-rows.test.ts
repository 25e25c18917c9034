import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { network, peer, policy } from '../../test/kits/records/records.ts';
import { buildCompiler } from '../state/compiled.ts';
import { stateOf } from '../state/state.ts';
import { futureViews } from './future-views.ts';
import { isHeavy, prepareInSlices } from './prepare-rows.ts';

const NOW = 1_000_000;
const states = { reachability: buildCompiler() };
const names = Array.from({ length: 24 }, (_, nth) => `n${nth}`);
const crowd = names.map((name, nth) => peer(name, { labels: { name }, address: `10.96.0.${nth + 1}` }));
const ENDS = 20;

/** A network whose policies end one after the other, each with as many rules. */
function endingNetwork(rules: number) {
  const policies = Array.from({ length: ENDS }, (_, nth) => {
    const values = (rule: number) => names.filter((_name, at) => (at * 31 + (rule + nth) * 17) % 7 < 4);
    const some = (rule: number) => ({
      matchExpressions: [{ key: 'name', operator: 'In' as const, values: values(rule) }],
    });
    return policy(`p${nth}`, {
      action: 'ALLOW',
      peerSelector: some(nth),
      expiresAt: new Date(NOW + (nth + 1) * 60_000).toISOString(),
      ingress: Array.from({ length: rules }, (_, rule) => ({
        from: [{ peerSelector: some(rule) }],
        ports: [{ protocol: 'TCP' as const, port: 1 + 2 * (nth * rules + rule) }],
      })),
    });
  });
  return stateOf('w', 1, [network('default'), ...crowd, ...policies]);
}

test('fewer ends of a heavy network are told apart, and the last of them tells what is left when all have ended', () => {
  const [light, heavy] = [endingNetwork(1), endingNetwork(20)];
  expect(futureViews(states, light, NOW)).toHaveLength(ENDS);
  const ahead = futureViews(states, heavy, NOW);
  expect(ahead.length).toBeGreaterThanOrEqual(1);
  expect(ahead.length).toBeLessThan(ENDS);
  expect(ahead.at(-1)?.reachability.parts.policies).toEqual([]);
});

test('the rows of a heavy network are computed while others get their turns', async () => {
  const reach = states.reachability(endingNetwork(20), NOW);
  expect(isHeavy(reach)).toBe(true);
  let turns = 0;
  const others = setInterval(() => (turns += 1), 0);
  const isComputed = (index: number) =>
    reach.parts.table.has('egress', index) && reach.parts.table.has('ingress', index);
  try {
    await prepareInSlices({ nextTurn: () => nextTurn() }, reach, () => []);
  } finally {
    clearInterval(others);
  }
  expect(turns).toBeGreaterThan(0);
  expect([...reach.parts.space.classes.keys()].every(isComputed)).toBe(true);
});
