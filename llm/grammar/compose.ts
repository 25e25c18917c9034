import { type NetworkChange, planChanges } from '../../core/changes/changes.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import type { NetworkState } from '../../core/state/state.ts';
import type { Act } from './acts/ask.ts';
import type { Step } from './perform.ts';
import { Refusal } from './refusal.ts';

/**
 * Takes steps one after the other, each on what the one before leads to, and folds their changes into one batch.
 *
 * @throws Refusal when two of them ask for opposite things.
 */
export function compose(steps: readonly Step[], state: NetworkState, now: number): Act {
  const acts: Act[] = [];
  let at = state;
  for (const [index, step] of steps.entries()) {
    const act = step(at);
    acts.push(act);
    if (index < steps.length - 1 && act.changes.length > 0) at = planChanges(at, act.changes, now).after;
  }
  const [only] = acts;
  if (only && acts.length === 1) return only;
  const expectations = acts.flatMap((act) => act.expectations);
  refuseContradiction(expectations);
  const told = acts.map(({ summary }) => summary);
  const records = acts.flatMap((act) => act.records ?? []);
  return {
    changes: folded(acts.flatMap((act) => act.changes)),
    expectations,
    records,
    summary: [...new Set(told)].join(' '),
  };
}

/** One change for each resource: what is written last, as far as it goes back to what was there before. */
function folded(changes: readonly NetworkChange[]): NetworkChange[] {
  const last = new Map<string, NetworkChange>();
  for (const change of changes) {
    const key = `${change.resource}/${change.name.toLowerCase()}`;
    const earlier = last.get(key);
    last.delete(key);
    const next = earlier ? merged(earlier, change) : change;
    if (next) last.set(key, next);
  }
  // Labels first: selectors of policies mean peers by them.
  return [...last.values()].sort((a, b) => Number(b.resource === 'MeshPeer') - Number(a.resource === 'MeshPeer'));
}

function merged(earlier: NetworkChange, later: NetworkChange): NetworkChange | undefined {
  if (earlier.action !== 'create') {
    return earlier.action === 'delete' && later.action === 'create'
      ? ({ ...later, action: 'update' } as NetworkChange)
      : later;
  }
  if (later.action === 'delete') return undefined;
  return { ...later, action: 'create' } as NetworkChange;
}

function refuseContradiction(expectations: readonly Expectation[]): void {
  const keyOf = ({ src, dst, protocol, port, endPort }: Expectation) =>
    JSON.stringify([src, dst, protocol, port, endPort]);
  const allowed = new Set(expectations.filter(({ expect }) => expect === 'allow').map(keyOf));
  const both = expectations.find((one) => one.expect === 'deny' && !one.except?.length && allowed.has(keyOf(one)));
  if (both)
    throw new Refusal(`This both allows and forbids ${both.src} to reach ${both.dst}.`, ['Which of the two is meant?']);
}
