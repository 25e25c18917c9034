import { MeshError } from '../core/base/errors.ts';
import { type NetworkChange, planChanges } from '../core/changes/changes.ts';
import { type Effect, effectOf } from '../core/effect/effect.ts';
import type { PortSpan } from '../core/effect/port-spans.ts';
import { spansOf } from '../core/effect/port-spans.ts';
import type { Planner } from '../core/intent/plan/planner.ts';
import { type OrderContext, writeOrders } from '../core/intent/plan/written-orders.ts';
import { parseCidr } from '../core/model/cidr.ts';
import { compile } from '../core/reachability/engine.ts';
import type { Reachability } from '../core/reachability/reachability.ts';
import { modelOf } from '../core/state/network-model.ts';
import type { NetworkState } from '../core/state/state.ts';
import { EVAL_NOW, type EvalCase, type Gold } from './case.ts';
import { common, ELSEWHERE, either, linksOf, outsideOf, textOf, without } from './gold.ts';
import { NETWORKS, type NetworkName, stateOfNetwork } from './networks.ts';

/** One intent on one network, as it was answered. */
export interface Trial {
  readonly family: EvalCase['family'];
  readonly network: NetworkName;
  readonly history: readonly string[];
  readonly says: string;
  readonly gold: Gold;
  readonly outcome: 'changes' | 'refused' | 'asked' | 'revert' | 'failed';
  /** The effect is the gold, or what must not be planned was not. */
  readonly exact: boolean;
  /** Nothing opened that the gold does not open. */
  readonly safe: boolean;
  /** The fault, for people. */
  readonly flaw: string | undefined;
}

/** A case in one of its wordings on one of its networks. */
export interface Asked {
  readonly one: EvalCase;
  readonly network: NetworkName;
  readonly says: string;
}

/** Every case on each of its networks in each of its wordings, in order. */
export function trialsOf(cases: readonly EvalCase[]): Asked[] {
  return cases.flatMap((one) => one.on.flatMap((network) => one.says.map((says) => ({ one, network, says }))));
}

const states = new Map<NetworkName, { state: NetworkState; was: Reachability }>();

function worldOf(network: NetworkName) {
  const known = states.get(network);
  if (known) return known;
  const state = stateOfNetwork(network);
  const world = { state, was: compile({ ...modelOf(state, EVAL_NOW), externals: [ELSEWHERE] }) };
  states.set(network, world);
  return world;
}

/** Asks a planner every intent and compares each effect with its gold. */
export async function runEvals(planner: Planner, cases: readonly EvalCase[], signal: AbortSignal): Promise<Trial[]> {
  const trials: Trial[] = [];
  for (const asked of trialsOf(cases)) trials.push(await tryOne(planner, asked, signal));
  return trials;
}

const ORDER_CONTEXT: OrderContext = {
  now: EVAL_NOW,
  timeZone: 'UTC',
  namespace: 'evals',
  joins: [],
  isPersons: true,
  reachOf: (state) => compile(modelOf(state, EVAL_NOW)),
};

/** Asks a planner one intent and compares its effect with its gold. */
export async function tryOne(
  planner: Planner,
  { one: { family, history = [], gold }, network, says }: Asked,
  signal: AbortSignal,
): Promise<Trial> {
  const { state, was } = worldOf(network);
  const trial = { family, network, history, says, gold };
  const answer = await planner.plan({ intent: says, history, state, now: EVAL_NOW, signal });
  if (answer.outcome === 'revert') {
    const flaw = gold === 'undo' ? undefined : 'took back the last change';
    return { ...trial, outcome: 'revert', exact: flaw === undefined, safe: flaw === undefined, flaw };
  }
  const refused = (reason: string, questions: readonly string[]): Trial => {
    const isAsked = questions.length > 0;
    const flaw = refusalFlaw(gold, isAsked, [reason, ...questions].join(' '));
    return { ...trial, outcome: isAsked ? 'asked' : 'refused', exact: flaw === undefined, safe: true, flaw };
  };
  if (answer.outcome === 'refused') return refused(answer.reason, answer.questions);
  let after: NetworkState;
  let changes: readonly NetworkChange[];
  try {
    ({ changes } = writeOrders(answer, state, ORDER_CONTEXT));
    ({ after } = planChanges(state, changes, EVAL_NOW));
  } catch (error) {
    // Orders that cannot be written are answered with the reason, as a sentence that is not read.
    if (error instanceof MeshError) return refused('', [error.message]);
    return {
      ...trial,
      outcome: 'failed',
      exact: false,
      safe: true,
      flaw: error instanceof Error ? error.message : 'cannot be made',
    };
  }
  const externals = outsideOf([...rangesIn(gold), ...rangesIn(changes)]);
  const before = externals.length > 1 ? compile({ ...modelOf(state, EVAL_NOW), externals }) : was;
  const effect = effectOf(before, compile({ ...modelOf(after, EVAL_NOW), externals }));
  const { wrong, widened } = compare(gold, effect, before, network);
  const late = timeFlaw(gold, changes);
  const flaw = [
    ...(typeof gold === 'string' ? [`planned, where the gold is: ${gold}`] : []),
    ...wrong,
    ...(late ? [late] : []),
  ]
    .slice(0, 3)
    .join('; ');
  return { ...trial, outcome: 'changes', exact: flaw === '', safe: !widened, flaw: flaw || undefined };
}

/** Every CIDR in a gold or a change, wherever it stands. */
function rangesIn(whole: Gold | readonly NetworkChange[]): string[] {
  return JSON.stringify(whole)
    .split(/[" ]/)
    .filter((text) => parseCidr(text));
}

function refusalFlaw(gold: Gold, asked: boolean, said: string): string | undefined {
  if (gold === 'refuse' || (gold === 'ask' && asked)) return undefined;
  return `${asked ? 'asked' : 'refused'}: ${said.slice(0, 200)}`;
}

type Delta = Map<string, { opened: readonly PortSpan[]; closed: readonly PortSpan[] }>;

function compare(
  gold: Gold,
  effect: Effect,
  was: Reachability,
  network: NetworkName,
): { wrong: string[]; widened: boolean } {
  const wanted = typeof gold === 'string' ? new Map() : wantedDelta(gold, was, network);
  const outside = (was.model.externals ?? []).map(({ name }) => name);
  const found = deltaOf(effect, rangesIn(gold).length > 0 ? [] : outside);
  const wrong: string[] = [];
  let widened = false;
  for (const key of new Set([...wanted.keys(), ...found.keys()])) {
    const want = wanted.get(key) ?? { opened: [], closed: [] };
    const got = found.get(key) ?? { opened: [], closed: [] };
    if (without(got.opened, want.opened).length > 0) widened = true;
    if (textOf(got.opened) !== textOf(want.opened))
      wrong.push(`${key} opens ${textOf(got.opened) || 'nothing'}, not ${textOf(want.opened) || 'nothing'}`);
    if (textOf(got.closed) !== textOf(want.closed))
      wrong.push(`${key} closes ${textOf(got.closed) || 'nothing'}, not ${textOf(want.closed) || 'nothing'}`);
  }
  return { wrong, widened };
}

/** A gold that names no address outside speaks of peers alone: then what closes for those addresses does not count. */
function deltaOf({ groups }: Effect, mayClose: readonly string[]): Delta {
  const delta: Delta = new Map();
  for (const { src, dst, ...change } of groups) {
    const [opened, closed] = [either(change.opened, []), either(change.closed, [])];
    for (const from of src) {
      for (const to of dst) {
        const isAside = mayClose.includes(from) || mayClose.includes(to);
        if (from !== to) delta.set(`${from} > ${to}`, { opened, closed: isAside ? [] : closed });
      }
    }
  }
  return delta;
}

/** What has to change so that all that the gold opens is open and all that it closes is closed. */
function wantedDelta(
  { opens = [], closes = [] }: Exclude<Gold, string>,
  was: Reachability,
  network: NetworkName,
): Delta {
  const { peers } = NETWORKS[network];
  const outside = was.model.externals ?? [];
  const delta: Delta = new Map();
  const change = (src: string, dst: string, more: { opened?: readonly PortSpan[]; closed?: readonly PortSpan[] }) => {
    const key = `${src} > ${dst}`;
    const { opened, closed } = delta.get(key) ?? { opened: [], closed: [] };
    const next = { opened: either(opened, more.opened ?? []), closed: either(closed, more.closed ?? []) };
    if (next.opened.length + next.closed.length > 0) delta.set(key, next);
  };
  for (const { src, dst, ports } of linksOf(opens, peers, outside))
    change(src, dst, { opened: without(ports, spansOf(was.allowed(src, dst))) });
  for (const { src, dst, ports } of linksOf(closes, peers, outside))
    change(src, dst, { closed: common(ports, spansOf(was.allowed(src, dst))) });
  return delta;
}

/** Every policy that is written ends when the gold says; none ends where it says nothing. */
function timeFlaw(gold: Gold, changes: readonly NetworkChange[]): string | undefined {
  const wanted = typeof gold === 'string' ? undefined : gold.ends;
  const ends = new Set(
    changes.flatMap((change) =>
      change.resource === 'MeshPolicy' && change.action !== 'delete' ? [change.spec.expiresAt] : [],
    ),
  );
  if (wanted === undefined && [...ends].every((end) => end === undefined)) return undefined;
  if (ends.size === 1 && ends.has(wanted)) return undefined;
  return `ends ${[...ends].join(', ') || 'never'}, not ${wanted ?? 'never'}`;
}
