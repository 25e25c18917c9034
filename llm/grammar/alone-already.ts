import { planChanges } from '../../core/changes/changes.ts';
import type { PlanAnswer } from '../../core/intent/plan/planner.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import { OUTSIDE } from '../../core/model/ranges.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { compose } from './compose.ts';
import type { Sym, Token } from './lexicon.ts';
import { stepsOf } from './perform.ts';
import { otherPorts } from './port-entries.ts';
import type { Statement } from './statements.ts';
import { parseSubjects } from './subjects.ts';
import type { At } from './suggest-atoms.ts';

const ELSE: ReadonlySet<Sym> = new Set(['NOBODY_ELSE', 'NOTHING_ELSE', 'TO_NOBODY_ELSE']);
/** More are not looked at one by one. */
const MAX_PEERS = 50;

/** The words without "and nothing else", where they say it once. */
export function withoutElse(tokens: readonly Token[]): readonly Token[] | undefined {
  const places = tokens.flatMap(({ sym }, at) => (sym && ELSE.has(sym) ? [at] : []));
  return places.length === 1 ? tokens.filter((_, at) => at !== places[0]) : undefined;
}

/**
 * "Laptop may reach api on 443 and nothing else", where whatever may be meant by it is so already once that is granted:
 * they reach nothing else, on no other port, and nobody else reaches what they reach.
 */
export function aloneAlready(statement: Statement, { state, now }: At): PlanAnswer | undefined {
  const { wish, slots, ports, spared, exclusive, mutual, exceptions } = statement;
  const { source, target } = slots;
  if (wish !== 'allow' || !source || !target || exclusive || mutual || spared.length + exceptions.length > 0)
    return undefined;
  const [sources, targets] = [parseSubjects(source, state), parseSubjects(target, state)];
  const named = [...sources, ...targets];
  if (named.some(({ everyone, selector }) => everyone || selector === undefined)) return undefined;
  const act = compose(stepsOf(statement, state, now), state, now);
  const [from, to] = [sources, targets].map((side) => [
    ...new Set(side.flatMap(({ peers }) => peers.map(({ name }) => name))),
  ]);
  if (!from || !to || from.length + to.length > MAX_PEERS) return undefined;
  const all = [...state.peers.keys()];
  const closed = [
    ...cross(from, [...all.filter((name) => !to.includes(name)), OUTSIDE]),
    ...cross([...all.filter((name) => !from.includes(name)), OUTSIDE], to),
    ...cross(from, to).flatMap((pair) =>
      (ports.length > 0 ? otherPorts(ports) : []).map((port) => ({ ...pair, ...port })),
    ),
  ].map((pair): Expectation => ({ ...pair, expect: 'deny' }));
  const { after } = planChanges(state, act.changes, now);
  if (unmetExpectations(closed, after, compile(modelOf(after, now))).length > 0) return undefined;
  const summary = `${act.summary} All else is closed already, between these and to all others.`;
  return { outcome: 'changes', changes: act.changes, expectations: [...act.expectations, ...closed], summary };
}

function cross(from: readonly string[], to: readonly string[]) {
  return from.flatMap((src) => to.filter((dst) => dst !== src).map((dst) => ({ src, dst })));
}
