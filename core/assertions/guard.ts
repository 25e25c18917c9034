import { MeshError } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import { permitFirst } from '../base/permit-first.ts';
import type { Change, Op, ReadSet } from '../base/ports.ts';
import { beginsOf, momentOf, stateAt } from '../state/begins.ts';
import { networkReadSet, readSetOn } from '../state/read-set.ts';
import type { HistoryServices } from '../state/services.ts';
import { afterCommit, type NetworkState, recordIn } from '../state/state.ts';
import type { AssertionSpec } from './assertion.ts';
import { checker, type Flaw } from './check.ts';
import { ENDS, isThere, withDeparted } from './departed-peers.ts';

/** A standing assertion of the workspace that a change would break: what it says, and why it would not hold. */
export type BrokenAssertion = AssertionSpec & Flaw & { readonly name: string };

/** Failing rows that an answer names; how many there are in all stands beside them. */
const MAX_FAILURES = 50;

/** The broken assertions, and the read set of that judgment. */
interface GuardResult {
  readonly broken: readonly BrokenAssertion[];
  /** To be committed with what was looked at. */
  readonly readSet: ReadSet;
}

/** The assertions that hold before a change and would not after it, now or when policies begin; one that is broken already stops nothing. */
export async function brokenAssertions(
  { store, states, clock }: HistoryServices,
  before: NetworkState,
  after: NetworkState,
): Promise<GuardResult> {
  const { items } = await store.list(before.workspace, 'PolicyAssertion');
  // Where there are none nothing else was looked at, and writes need not wait for each other.
  if (items.length === 0) return { broken: [], readSet: readSetOn(before, ['PolicyAssertion']) };
  const first = momentOf(before, after, clock.now());
  const broken = new Map<string, BrokenAssertion>();
  for (const now of [first, ...beginsOf(before, after).filter((at) => at > first)]) {
    const [old, next] = [stateAt(before, now), stateAt(after, now)];
    const [was, is] = [withDeparted(old, items, next), withDeparted(next, items, old)];
    const flawAfter = checker(is, states.reachability(is, now));
    const flawBefore = checker(was, states.reachability(was, now));
    for (const { name, spec } of items) {
      const flaw = broken.has(name) ? undefined : flawAfter(spec);
      if (flaw && (isOfFuturePeer(spec, flaw, old, next) || !flawBefore(spec)))
        broken.set(name, { name, ...spec, ...flaw });
    }
  }
  return { broken: [...broken.values()], readSet: networkReadSet(before) };
}

/** Tells whether a peer comes in under a name that is not to reach somebody, and would reach them: nobody reached anybody by it before. */
function isOfFuturePeer(spec: AssertionSpec, flaw: Flaw, before: NetworkState, after: NetworkState): boolean {
  if (spec.expect === 'reachable' || flaw.from === null) return false;
  return ENDS.some((end) => !isThere(before, spec[end]) && isThere(after, spec[end]));
}

/** @throws MeshError `policy_assertion_failed` naming each assertion that the change would break */
export function requireAssertions(broken: readonly BrokenAssertion[]): void {
  if (broken.length === 0) return;
  const [first] = broken;
  const more = broken.length > 1 ? ` and ${broken.length - 1} more` : '';
  throw new MeshError(
    'policy_assertion_failed',
    `The change would break the assertion ${first?.name}${more}: ${first?.detail}. Change or delete the assertion first if it no longer holds.`,
    { failures: broken.slice(0, MAX_FAILURES), failed: broken.length },
  );
}

/**
 * As {@link requireAssertions}, for writes that are no changes of the network as plans know them.
 *
 * @returns what they are to be committed with
 */
export async function requireAssertionsAfter(
  context: CallContext<HistoryServices>,
  state: NetworkState,
  ops: readonly Op[],
): Promise<ReadSet> {
  const { broken, readSet } = await brokenAssertions(context.services, state, stateAfter(state, ops));
  const isDevice = context.caller.kind === 'device' || context.caller.kind === 'enrolment';
  await permitFirst(context, ops, () => (isDevice ? requireUnnamed(broken) : requireAssertions(broken)));
  return readSet;
}

/** As {@link requireAssertions}, for devices: whoever holds a join token learns no names of peers and policies from it. */
function requireUnnamed(broken: readonly BrokenAssertion[]): void {
  if (broken.length === 0) return;
  throw new MeshError(
    'policy_assertion_failed',
    'An assertion of this workspace would not hold with this device in it under this name. Ask an administrator of the workspace.',
    { failed: broken.length },
  );
}

function stateAfter(state: NetworkState, ops: readonly Op[]): NetworkState {
  const revision = state.revision + 1;
  const changes = ops.flatMap((op): Change[] => {
    if (op.op === 'check') return [];
    const { workspace } = state;
    if (op.op === 'delete') {
      const record = recordIn(state, op.key.kind, op.key.name);
      return record ? [{ type: 'deleted', record }] : [];
    }
    return [{ type: 'created', record: { ...op.record, workspace, createdAt: 0, generation: 1, revision } }];
  });
  return afterCommit(state, { revision, changes });
}
