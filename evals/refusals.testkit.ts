import type { NetworkState } from '../core/state/state.ts';
import { planByGrammar } from '../llm/grammar/builtin.ts';
import { peer, stateWith } from '../test/kits/records/records.ts';
import { EVAL_NOW } from './case.ts';
import { BLIND } from './cases/blind.ts';
import { HELD_OUT } from './cases/held-out.ts';
import { HELD_OUT_AGAIN } from './cases/held-out-again.ts';
import { CASES } from './cases.ts';
import { FORM_PEERS, REFUSED } from './forms.ts';
import { stateOfNetwork } from './networks.ts';
import { trialsOf } from './score.ts';

interface Asked {
  readonly intent: string;
  readonly history: readonly string[];
  readonly state: NetworkState;
}

export const forms = stateWith(...Object.entries(FORM_PEERS).map(([name, labels]) => peer(name, { labels })));
const ASKED: readonly Asked[] = [
  ...trialsOf([...CASES, ...HELD_OUT, ...HELD_OUT_AGAIN, ...BLIND]).map(({ one, network, says }) => ({
    intent: says,
    history: one.history ?? [],
    state: stateOfNetwork(network),
  })),
  ...REFUSED.map(([intent]) => ({ intent, history: [], state: forms })),
];

/** Every intent of all sets, and more of the peers of the forms, that is not planned, with its answer. */
export function refusalsOf(...more: readonly string[]) {
  return [...ASKED, ...more.map((intent) => ({ intent, history: [], state: forms }))].flatMap((asked) => {
    const answer = planByGrammar({ ...asked, now: EVAL_NOW });
    return answer.outcome === 'refused' ? [{ ...asked, answer }] : [];
  });
}
