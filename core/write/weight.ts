import { stateAfter } from '../authority/state-after.ts';
import { writesOf } from '../authority/writes.ts';
import type { CommitContext, Op, ReadSet } from '../base/ports.ts';
import type { StoredRecord } from '../base/record.ts';
import { sameAccess } from '../model/peer-access.ts';
import { allRulesOf } from '../model/policy-match.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { MAX_WEIGHT, MAX_WEIGHT_BY_AGENTS, mostOf, tooHeavy, weightOf } from '../reachability/weight.ts';
import { stateAt } from '../state/begins.ts';
import { networkReadSet, readSetOn } from '../state/read-set.ts';
import type { NetworkServices } from '../state/services.ts';
import { type NetworkState, recordIn } from '../state/state.ts';
import { type Draft, restingOn } from './draft.ts';

type Uses = Pick<NetworkServices, 'states' | 'clock'>;

/** A network that is too heavy already can be made lighter. */
export async function limitWeight(draft: Draft, services: Uses): Promise<Draft> {
  const { weighedAt, ...context } = draft.context;
  const { workspace, ops } = draft;
  const weighed: Draft = { workspace, ops, context };
  if (!ops.some(mayWeigh)) return weighed;
  const state = await services.states.current(workspace);
  if (weighedAt === state.revision) return weighed;
  const after = () =>
    stateAfter(
      state,
      writesOf(ops, ({ kind, name }) => recordIn(state, kind, name)),
    );
  return restingOn(weighed, requireComputable(services, state, ops, after, isAgents(context)));
}

/**
 * Share of the weight limit below which devices that join at the same moment, each judged without the others, do not exceed the
 * limit.
 */
const NEAR = 1 / 4;
/**
 * The same of policies, whose weights grow with each other: where each of n is about the same peers, they have subjects in
 * common with any others of them, and their rules add up for each. So n that weigh one together weigh n (n + 1) 2^(n - 2), for four 80.
 */
const NEAR_FOR_POLICIES = 1 / 80;

/**
 * @returns what the commit rests on, where others that are written at the same moment could make the network too heavy with it
 * @throws MeshError `payload_too_large` for a network that is too heavy, and heavier than before
 */
export function requireComputable(
  { states, clock }: Uses,
  before: NetworkState,
  ops: readonly Op[],
  afterwards: () => NetworkState,
  byAgent: boolean,
): ReadSet | undefined {
  if (!ops.some((op) => weighs(op, before))) return undefined;
  // What begins later is weighed when it is written, so that nothing stops it then.
  const after = stateAt(afterwards(), Number.POSITIVE_INFINITY);
  const most = byAgent ? MAX_WEIGHT_BY_AGENTS : MAX_WEIGHT;
  const byPolicies = ops.some(isOfPolicy) ? readSetOn(before, ['MeshPolicy']) : undefined;
  const bound = heaviestOf(after.policies.values());
  if (bound <= MAX_WEIGHT_BY_AGENTS) return bound > most * NEAR_FOR_POLICIES ? byPolicies : undefined;
  const now = clock.now();
  const weight = weightOf(states.reachability(after, now));
  if (weight > most && !(weight < weightOf(states.reachability(stateAt(before, Number.POSITIVE_INFINITY), now))))
    throw tooHeavy();
  if (weight > most * NEAR) return networkReadSet(before);
  return weight > most * NEAR_FOR_POLICIES ? byPolicies : undefined;
}

/** Returns true if an agent writes by itself; a batch that a person approved counts as that person's. */
function isAgents({ actor, approval }: CommitContext): boolean {
  return actor.startsWith('agent:') && !approval?.reviewedBy;
}

function mayWeigh(op: Op): boolean {
  return isOfPolicy(op) || ((op.op === 'create' || op.op === 'update') && op.record.kind === 'MeshPeer');
}

function isOfPolicy(op: Op): boolean {
  return (op.op === 'create' || op.op === 'update') && op.record.kind === 'MeshPolicy';
}

/** Returns true if a write can add to what rules select. A deletion makes a network lighter. */
function weighs(op: Op, state: NetworkState): boolean {
  if (!mayWeigh(op) || (op.op !== 'create' && op.op !== 'update')) return false;
  if (op.op === 'create' || op.record.kind !== 'MeshPeer') return true;
  const before = state.peers.get(op.record.name);
  const { status } = op.record;
  if (!before || !sameAccess(before, op.record)) return true;
  // A peer that is let in is told apart by the address that it gets.
  return status.address !== null && status.address !== before.status.address;
}

/** Returns the most that the different sets of ports can add up to, whatever is selected. */
function heaviestOf(policies: Iterable<PolicyRecord>): number {
  const sets = new Map<string, number>();
  for (const policy of policies) for (const [text, entries] of portsOf(policy)) sets.set(text, entries);
  let numbers = 0;
  for (const entries of sets.values()) numbers += 2 * entries;
  // Egress and ingress.
  return 2 * mostOf(sets.size, numbers);
}

const known = new WeakMap<StoredRecord['spec'] & object, ReadonlyMap<string, number>>();

/** The lists of ports of a policy, as text, with their lengths. */
function portsOf({ spec }: PolicyRecord): ReadonlyMap<string, number> {
  const before = known.get(spec);
  if (before) return before;
  const lists = new Map(allRulesOf(spec).map(({ ports }) => [JSON.stringify(ports), ports.length]));
  known.set(spec, lists);
  return lists;
}
