import { planChanges } from '../../core/changes/changes.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Account } from './account.ts';
import type { Offered } from './compared.ts';
import { otherPorts } from './port-entries.ts';
import { attempt } from './refusal.ts';
import { parseSubjects } from './subjects.ts';

/** More are not looked at one by one. */
const MAX_CHECKED = 2_000;

/**
 * Whether "nothing else" is so once a choice is done that does not say it: who reaches reaches nothing else (`out`), or
 * nothing else reaches who is reached (`in`).
 */
export function isElseClosed(
  { changes, orders }: Offered,
  { atoms }: Account,
  side: 'in' | 'out',
  { state, now }: { readonly state: NetworkState; readonly now: number },
): boolean {
  const ports = atoms.flatMap((atom) => (atom.kind === 'ports' ? atom.ports : []));
  const rest = ports.length > 0 ? otherPorts(ports) : [];
  const expected = orders.flatMap(({ source, target }): Expectation[] => {
    const [from, to] = [source, target].map((words) => words && attempt(() => parseSubjects(words, state)));
    if (!from || !to) return [];
    const [sources, targets] = [from, to].map((all) => all.flatMap(({ terms }) => terms));
    const own = new Set((side === 'out' ? to : from).flatMap(({ peers }) => peers.map(({ name }) => name)));
    const others = [...state.peers.keys()].filter((name) => !own.has(name));
    const pairs = side === 'out' ? cross(sources ?? [], others) : cross(others, targets ?? []);
    const beside = cross(sources ?? [], targets ?? []).flatMap((pair) => rest.map((port) => ({ ...pair, ...port })));
    return [...pairs, ...beside].map((one) => ({ ...one, expect: 'deny' as const }));
  });
  if (expected.length === 0 || expected.length > MAX_CHECKED) return false;
  const { after } = planChanges(state, changes, now);
  return unmetExpectations(expected, after, compile(modelOf(after, now))).length === 0;
}

function cross(from: readonly string[], to: readonly string[]) {
  return from.flatMap((src) => to.filter((dst) => dst !== src).map((dst) => ({ src, dst })));
}
