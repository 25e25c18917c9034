import { MeshError } from '../base/errors.ts';
import { type NetworkChange, planChanges } from '../changes/changes.ts';
import { effectOf } from '../effect/effect.ts';
import { withPeerNames } from '../model/peer-lists.ts';
import { policyInputSchema } from '../model/policy.ts';
import { isOfAgent } from '../model/presets.ts';
import { compile } from '../reachability/engine.ts';
import { explain } from '../reachability/explain.ts';
import type { Blocker, ConnectivityQuery, Explanation } from '../reachability/explanation.ts';
import type { PeerInput } from '../reachability/model.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { agentOf, modelOf } from '../state/network-model.ts';
import { type NetworkState, writtenPolicies } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import { droppingRules, withExemptions } from './exemption.ts';

/** A step to take. All steps of an answer, in order, open the connection asked about: that was computed, not assumed. */
export type FixStep =
  | {
      /** For `plan_network_change`, as they are. */
      readonly change: 'apply_changes';
      readonly changes: readonly NetworkChange[];
      /** Ordered pairs of peers that they open and close; more than one opens where nothing narrower does. */
      readonly opens_pairs: number;
      readonly closes_pairs: number;
    }
  | {
      readonly change: 'approve_peer' | 'rejoin' | 'widen_reach' | 'come_online';
      readonly peer: string;
      /** Role or person that can take the step. */
      readonly by: string;
      readonly detail: string;
    };

type Move = Extract<FixStep, { peer: string }>;

/** Each obstacle is met once: approval, expiry and network of two peers, the bound of one, policies. */
const MAX_ROUNDS = 8;

/**
 * Returns the steps that open a refused connection; none where no steps were found that do. Every answer was tried: after it
 * the connection is open, at the same instant. Where the agent of a peer has ended, its new delegation decides what it reaches.
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
      return [...moves, { change: 'apply_changes', changes: withPeerNames(changes, state.peers), ...counts }];
    }
    const [blocker] = explanation.blocked_by;
    const subject = explanation.steps.find(({ result }) => result === 'fail')?.subject ?? query.src;
    if (!blocker) return [];
    const move = moveFor(blocker, blocker.stage === 'delegation_bound' ? query.src : subject, query);
    if (move) {
      const record = state.peers.get(move.move.peer);
      // The reach of a new delegation is not known.
      if (move.move.change === 'rejoin' && record && agentOf(record) !== undefined) return [...moves, move.move];
      patches.set(move.move.peer, { ...patches.get(move.move.peer), ...move.patch });
      moves.push(move.move);
    } else if (blocker.reason_code === 'DIFFERENT_NETWORK') {
      const network = state.peers.get(query.dst)?.spec.network;
      if (network === undefined) return [];
      changes = [...changes, { action: 'update', resource: 'MeshPeer', name: query.src, network }];
    } else {
      const next = policyChanges(state, explanation, query)
        .map((more) => [...changes, ...more])
        .find((made) => {
          const then = canBeAsked(made) ? changesMade(state, made, instant) : undefined;
          return then && explain(reachOf(then), query).verdict === 'reachable';
        });
      if (!next) return [];
      changes = next;
    }
  }
  return [];
}

/** A list of peers may be full, and a rule have no room for one more. */
function canBeAsked(changes: readonly NetworkChange[]): boolean {
  return changes.every((change) => !('spec' in change) || policyInputSchema.safeParse(change.spec).success);
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

/** Returns the step for a blocker that no policy removes: who has to act, and how the peer changes. */
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

/**
 * Returns changes that may open what policies still refuse, the narrower first: every rule that refuses the pair spares it, or,
 * where that cannot be written, is removed for everyone.
 */
function policyChanges(
  state: NetworkState,
  { would_fix: fixes }: Explanation,
  { src, dst }: ConnectivityQuery,
): readonly (readonly NetworkChange[])[] {
  if (fixes.length === 0 || fixes.some(({ policy }) => policy !== null && isOfAgent(state.policies.get(policy)))) {
    return [];
  }
  const nameFor = freeNames(state);
  const added = fixes.filter((fix) => fix.change === 'add_policy');
  const written = added.map(({ direction, spec }): NetworkChange => {
    const name = nameFor(`allow-${src}-to-${dst}`, added.length > 1 ? `-${direction}` : '');
    return { action: 'create', resource: 'MeshPolicy', name, spec };
  });
  const ends = { src: state.peers.get(src), dst: state.peers.get(dst) };
  const spared = fixes.flatMap((fix) => {
    const [subject, other] = fix.direction === 'egress' ? [ends.src, ends.dst] : [ends.dst, ends.src];
    return fix.change === 'spare_pair' && subject && other ? [{ ...fix, subject, other }] : [];
  });
  const refusing = [...Map.groupBy(spared, ({ policy }) => policy)].flatMap(([name, rules]) => {
    const record = state.policies.get(name);
    return record ? [{ record, rules }] : [];
  });
  const narrow = refusing.flatMap(({ record, rules }) =>
    withExemptions(record, rules, (subject) => nameFor(record.name, `-for-${subject}`)),
  );
  const wide = refusing.map(({ record, rules }) => droppingRules(record, rules));
  return [
    [...narrow, ...written],
    [...wide, ...written],
  ];
}

/** Room for a number behind it. */
const MAX_NAME_LENGTH = 58;

/** Names that no policy has, each given once. What comes last tells them apart and is kept. */
function freeNames(state: NetworkState): (start: string, end: string) => string {
  const taken = new Set([...writtenPolicies(state).keys()].map((name) => name.toLowerCase()));
  return (start, end) => {
    const tail = end.slice(0, MAX_NAME_LENGTH / 2);
    const base = start.slice(0, MAX_NAME_LENGTH - tail.length) + tail;
    let name = base;
    for (let count = 2; taken.has(name.toLowerCase()); count++) name = `${base}-${count}`;
    taken.add(name.toLowerCase());
    return name;
  };
}
