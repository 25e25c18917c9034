import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { planChanges } from '../core/changes/changes.ts';
import { type Effect, effectOf } from '../core/effect/effect.ts';
import { spanText } from '../core/effect/port-spans.ts';
import { unmetExpectations } from '../core/intent/verify/expectations.ts';
import { compile } from '../core/reachability/engine.ts';
import { modelOf } from '../core/state/network-model.ts';
import type { NetworkState } from '../core/state/state.ts';
import { planByGrammar } from '../llm/grammar/builtin.ts';
import { peer, policy, stateWith } from '../test/kits/records/records.ts';
import { FORM_EXAMPLES, FORM_PEERS, type FormExample, REFUSED } from './forms.ts';
import { renderForms } from './render-forms.ts';

const NOW = Date.UTC(2026, 0, 5, 12);

function stateOf(given: FormExample['given'] = {}): NetworkState {
  const peers = Object.entries(FORM_PEERS).map(([name, labels]) => peer(name, { labels }));
  return stateWith(...peers, ...Object.entries(given).map(([name, spec]) => policy(name, spec)));
}

describe('the sentences of the built-in planner', () => {
  it.each(Object.values(FORM_EXAMPLES).flat())(
    '"$says" has exactly its effect and meets what it expects',
    ({ says, given, opens = [], closes = [] }) => {
      const state = stateOf(given);
      const answer = planByGrammar({ intent: says, state, now: NOW });
      if (answer.outcome !== 'changes') throw new Error(JSON.stringify(answer));
      const { after } = planChanges(state, answer.changes, NOW);
      const is = compile(modelOf(after, NOW));
      const effect = effectOf(compile(modelOf(state, NOW)), is);
      expect({ opens: rows(effect, 'opened'), closes: rows(effect, 'closed') }).toEqual({ opens, closes });
      expect(unmetExpectations(answer.expectations, after, is)).toEqual([]);
    },
  );

  it.each(REFUSED)('"%s" is refused', (says, reason) => {
    const answer = planByGrammar({ intent: says, state: stateOf(), now: NOW });
    expect(answer).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(reason) });
  });

  it('stand in forms.md as they are here', () => {
    const path = new URL('./forms.md', import.meta.url);
    const text = renderForms();
    if (process.env['UPDATE_FORMS']) writeFileSync(path, text);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });
});

function rows({ groups }: Effect, side: 'opened' | 'closed'): string[] {
  return groups
    .filter((group) => group[side].length > 0)
    .flatMap(({ src, dst, ...group }) =>
      src.flatMap((from) => dst.filter((to) => to !== from).map((to) => `${from}>${to} ${spanText(group[side])}`)),
    )
    .sort();
}
