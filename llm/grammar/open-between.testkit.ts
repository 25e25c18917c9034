import { expect } from 'vitest';
import { planChanges } from '../../core/changes/changes.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import type { PolicySpec } from '../../core/model/policy.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { network, peer, policy, stateWith } from '../../test/kits/records/records.ts';
import { planByGrammar } from './builtin.ts';

export const NOW = Date.UTC(2026, 0, 5, 12);
export const PEERS: Readonly<Record<string, string>> = {
  'web-1': 'web',
  'web-2': 'web',
  'db-1': 'db',
  'api-1': 'api',
  laptop: 'laptop',
};
export const ELSEWHERE = '203.0.113.7/32';
export const EVERYONE = [...Object.keys(PEERS), ELSEWHERE];

export function networkOf(defaultAction: 'ALLOW' | 'DENY', ...policies: [string, PolicySpec][]): NetworkState {
  return stateWith(
    network('default', { defaultAction }),
    ...Object.entries(PEERS).map(([name, role], at) =>
      peer(name, { labels: { role }, uid: `p_${name}`, address: `10.96.0.${at + 1}` }),
    ),
    ...policies.map(([name, spec]) => policy(name, spec)),
  );
}
export const OPEN = networkOf('ALLOW');
export const CLOSED = networkOf('DENY');

/** Which of these connections are open on a port, written as they are found: `src > dst`. */
export function openIn(state: NetworkState, from: readonly string[], to: readonly string[], port = 9999): string[] {
  const reach = compile(modelOf(state, NOW));
  return from.flatMap((src) =>
    to.flatMap((dst) => {
      const asked: Expectation = { src, dst, protocol: 'TCP', port, expect: 'deny' };
      return src !== dst && unmetExpectations([asked], state, reach).length > 0 ? [`${src} > ${dst}`] : [];
    }),
  );
}

export const answerTo = (intent: string, state: NetworkState) => planByGrammar({ intent, state, now: NOW });

export function after(intent: string, state: NetworkState): NetworkState {
  const answer = answerTo(intent, state);
  if (answer.outcome !== 'changes') throw new Error(`${intent}: ${JSON.stringify(answer)}`);
  const next = planChanges(state, answer.changes, NOW).after;
  expect(unmetExpectations(answer.expectations, next, compile(modelOf(next, NOW))), intent).toEqual([]);
  return next;
}
