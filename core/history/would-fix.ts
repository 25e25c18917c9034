import { MeshError } from '../errors.ts';
import { effectOf } from '../intent/effect.ts';
import { isOfAgent } from '../intent/revert.ts';
import { type NetworkChange, planChanges } from '../network/changes.ts';
import { agentOf, modelOf } from '../network/model.ts';
import type { PolicySpec } from '../network/policy.ts';
import type { NetworkState } from '../network/state.ts';
import type { NetworkStates } from '../network/states.ts';
import { compile } from '../reachability/engine.ts';
import { type Blocker, type ConnectivityQuery, type Explanation, explain, type Fix } from '../reachability/explain.ts';
import type { PeerInput } from '../reachability/model.ts';
import type { Reachability } from '../reachability/reachability.ts';

/** One thing to do. All that are answered, in their order, open what was asked: that was computed, not assumed. */
export type FixStep =
  | {
      /** For `plan_network_change`, as they are. */
      readonly change: 'apply_changes';
      readonly changes: readonly NetworkChange[];
      /** Ordered pairs of peers that they open and close; more than one opens where others have the same labels. */
      readonly opens_pairs: number;
      readonly closes_pairs: number;
    }
  | {
      readonly change: 'approve_peer' | 'rejoin' | 'widen_reach' | 'come_online';
      readonly peer: string;
      /** Who can do it. */
      readonly by: string;
      readonly detail: string;
    };

type Move = Extract<FixStep, { peer: string }>;

/** Each obstacle is met once: approval, expiry and network of two peers, the bound of one, policies. */
const MAX_ROUNDS = 8;

/**
 * What opens a connection that is refused; nothing where no such way was found. Every answer was tried: after it the
 * connection is open, at the same instant. Where the agent of a peer has ended, who delegates again decides what it reaches.
 */
export function wouldFix(
  states: Pick<NetworkStates, 'reachability'>,
  state: NetworkState,
  query: ConnectivityQuery,
  instant: number,
): FixStep[] {
  const moves: Move[] = [];
  const patches = new Map<string, Partial<PeerInput>>();
  let changes: readonly NetworkChange[] = [];
  const reachOf = (of: NetworkState): Reachability =>
    patches.size === 0 ? states.reachability(of, instant) : compile(patched(modelOf(of, instant), patches));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const after = changesMade(state, changes, instant);
    if (!after) return [];
    const explanation = explain(reachOf(after), query);
    if (explanation.verdict === 'reachable') {
      if (changes.length === 0) return moves;
      const effect = effectOf(reachOf(state), reachOf(after));
      const counts = { opens_pairs: effect.openedPairs, closes_pairs: effect.closedPairs };
      return [...moves, { change: 'apply_changes', changes, ...counts }];
    }
    const [blocker] = explanation.blocked_by;
    const subject = explanation.steps.find(({ result }) => result === 'fail')?.subject ?? query.src;
    if (!blocker) return [];
    const move = moveFor(blocker, blocker.stage === 'delegation_bound' ? query.src : subject, query);
    if (move) {
      const record = state.peers.get(move.move.peer);
      // What a new delegation would let it reach is not known.
      if (move.move.change === 'rejoin' && record && agentOf(record) !== undefined) return [...moves, move.move];
      patches.set(move.move.peer, { ...patches.get(move.move.peer), ...move.patch });
      moves.push(move.move);
    } else if (blocker.reason_code === 'DIFFERENT_NETWORK') {
      const network = state.peers.get(query.dst)?.spec.network;
      if (network === undefined) return [];
      changes = [...changes, { action: 'update', resource: 'MeshPeer', name: query.src, network }];
    } else {
      const next = policyChanges(state, changes, explanation, query, (made) => {
        const then = changesMade(state, made, instant);
        if (!then) return undefined;
        const reach = reachOf(then);
        const isOpen = explain(reach, query).verdict === 'reachable';
        return isOpen ? effectOf(reachOf(after), reach).closedPairs : undefined;
      });
      if (!next) return [];
      changes = next;
    }
  }
  return [];
}

function changesMade(state: NetworkState, changes: readonly NetworkChange[], now: number): NetworkState | undefined {
  if (changes.length === 0) return state;
  try {
    return planChanges(state, changes, now).after;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

function patched(model: ReturnType<typeof modelOf>, patches: ReadonlyMap<string, Partial<PeerInput>>) {
  return { ...model, peers: model.peers.map((peer) => ({ ...peer, ...patches.get(peer.name) })) };
}

/** What no policy does: who has to do it, and what a peer is then. */
function moveFor(
  { reason_code: code }: Blocker,
  peer: string,
  { dst, protocol, port }: ConnectivityQuery,
): { readonly move: Move; readonly patch: Partial<PeerInput> } | undefined {
  switch (code) {
    case 'PEER_PENDING':
      return {
        move: { change: 'approve_peer', peer, by: 'someone with peers:approve', detail: `Approve ${peer}.` },
        patch: { phase: 'ready' },
      };
    case 'PEER_REVOKED':
    case 'PEER_EXPIRED': {
      const why = code === 'PEER_REVOKED' ? 'was revoked' : 'has expired';
      const detail = `${peer} ${why}: the device joins again with a new token, or its agent is delegated again.`;
      return {
        move: { change: 'rejoin', peer, by: 'the device, or the agent above it', detail },
        patch: { phase: 'ready', expiresAt: undefined },
      };
    }
    case 'DELEGATION_BOUND': {
      const what = [protocol, port].filter((one) => one !== undefined).join(' ');
      const detail = `No policy opens more to ${peer} than the agent above it may reach: widen what that agent may reach to ${what === '' ? '' : `${what} of `}${dst}.`;
      return {
        move: { change: 'widen_reach', peer, by: 'a person, for the agent above it', detail },
        patch: { bound: undefined },
      };
    }
    default:
      return undefined;
  }
}

/** Policies that open what is left; of two ways that do, the one that closes less. */
function policyChanges(
  state: NetworkState,
  before: readonly NetworkChange[],
  { would_fix: fixes, blocked_by: blockers }: Explanation,
  { src, dst }: ConnectivityQuery,
  closes: (changes: readonly NetworkChange[]) => number | undefined,
): readonly NetworkChange[] | undefined {
  const isHeld = (name: string | null) => name !== null && isOfAgent(state.policies.get(name));
  if (fixes.length === 0 || fixes.some(({ policy }) => isHeld(policy))) return undefined;
  const removed = withoutRules(state, fixes);
  const added = fixes.filter((fix) => fix.change === 'add_policy');
  const written = added.map(({ direction, spec }): NetworkChange => {
    const name = freeName(state, `allow-${src}-to-${dst}${added.length > 1 ? `-${direction}` : ''}`);
    return { action: 'create', resource: 'MeshPolicy', name, spec };
  });
  const own = [...before, ...removed, ...written];
  const cost = closes(own);
  if (cost === 0) return own;
  const joined = added.map(({ direction, spec }): NetworkChange | undefined => {
    const isolating = blockers.find((one) => one.direction === direction && one.reason_code.endsWith('_ISOLATED'));
    const old = isolating?.policy == null ? undefined : state.policies.get(isolating.policy)?.spec;
    if (!old || !isolating?.policy || old.action !== 'ALLOW' || isHeld(isolating.policy)) return undefined;
    const rules =
      direction === 'ingress'
        ? { ingress: [...(old.ingress ?? []), ...(spec.ingress ?? [])] }
        : { egress: [...(old.egress ?? []), ...(spec.egress ?? [])] };
    return { action: 'update', resource: 'MeshPolicy', name: isolating.policy, spec: { ...old, ...rules } };
  });
  const others = [...before, ...removed, ...joined.filter((change) => change !== undefined)];
  const isWhole = added.length > 0 && joined.every((change) => change !== undefined);
  const less = isWhole ? closes(others) : undefined;
  if (less !== undefined && (cost === undefined || less < cost)) return others;
  return cost === undefined ? undefined : own;
}

/** A direction whose last rule goes goes too, and a policy without either: with no rules it would isolate. */
function withoutRules(state: NetworkState, fixes: readonly Fix[]): NetworkChange[] {
  const gone = new Map<string, { readonly ingress: Set<number>; readonly egress: Set<number> }>();
  for (const fix of fixes) {
    if (fix.change !== 'remove_rule') continue;
    const of = gone.get(fix.policy) ?? { ingress: new Set<number>(), egress: new Set<number>() };
    gone.set(fix.policy, of);
    of[fix.direction].add(fix.rule_index);
  }
  return [...gone].flatMap(([name, { ingress: inward, egress: outward }]): NetworkChange[] => {
    const spec = state.policies.get(name)?.spec;
    if (!spec) return [];
    const { ingress, egress, ...rest } = spec;
    const left = <R>(rules: readonly R[] | undefined, of: ReadonlySet<number>) => {
      const kept = rules?.filter((_, index) => !of.has(index));
      return kept?.length === 0 && of.size > 0 ? undefined : kept;
    };
    const [into, out] = [left(ingress, inward), left(egress, outward)];
    if (into === undefined && out === undefined) return [{ action: 'delete', resource: 'MeshPolicy', name }];
    const next: PolicySpec = { ...rest, ...(into && { ingress: into }), ...(out && { egress: out }) };
    return [{ action: 'update', resource: 'MeshPolicy', name, spec: next }];
  });
}

/** Room for a number behind it. */
const MAX_NAME_LENGTH = 58;

function freeName({ policies }: NetworkState, wanted: string): string {
  const base = wanted.slice(0, MAX_NAME_LENGTH);
  let name = base;
  for (let count = 2; policies.has(name); count++) name = `${base}-${count}`;
  return name;
}
