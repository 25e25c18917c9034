import { memoize } from '../base/memoize.ts';
import { hasEnded } from '../base/time.ts';
import { type PolicySpec, policySpecSchema, type Rule } from '../model/policy.ts';
import { endOf, isolates, isSubject, rulesOf } from '../model/policy-match.ts';
import type { PeerRecord, PolicyRecord } from '../model/resources.ts';
import { selectsEveryone } from '../model/selector.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { agentOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import type { ScopeRule } from './scope.ts';

type Direction = Rule['direction'];

/** A policy in force, as far as it can be read. */
export interface InForce {
  readonly policy: PolicyRecord;
  readonly spec: PolicySpec;
}

/** The network at one instant, as checks look at it. */
export interface View {
  readonly state: NetworkState;
  readonly at: number;
  readonly rule: ScopeRule;
  readonly subject: string;
  /** Addresses outside that may reach peers in scope: the list of the workspace. */
  readonly sources: readonly string[];
  /** Returns the reviewer of the change that made a revision: empty for nobody, undefined where that is no longer kept. */
  readonly reviewOf: (revision: number) => string | undefined;
  /** Compiled when it is first asked for. */
  readonly reach: () => Reachability;
}

/** Peers that take part: approved, and neither they nor their agents have ended. */
export const livePeers = memoize(({ state, at }: View): readonly PeerRecord[] =>
  [...state.peers.values()].filter((peer) => {
    const { spec, status } = peer;
    if (status.phase !== 'ready' || hasEnded(spec, at)) return false;
    const agent = agentOf(peer);
    return agent === undefined || state.agents.has(agent);
  }),
);

export const peersInScope = memoize((view: View): readonly PeerRecord[] =>
  livePeers(view).filter(({ labels }) => view.rule.includes(labels)),
);

const readSpec = memoize(({ spec }: PolicyRecord) => policySpecSchema.safeParse(spec));

/** Policies that count at the instant; one that cannot be read allows nothing and is left out. */
export const policiesInForce = memoize(({ state, at }: View): readonly InForce[] =>
  [...state.policies.values()].flatMap((policy) => {
    const { success, data } = readSpec(policy);
    return success && endOf(data) > at ? [{ policy, spec: data }] : [];
  }),
);

/** The policies in force that isolate whom they select, those about everyone first: mostly one of these decides. */
const isolating = {
  ingress: memoize((view: View) => isolatingIn(view, 'ingress')),
  egress: memoize((view: View) => isolatingIn(view, 'egress')),
};

function isolatingIn(view: View, direction: Direction): readonly InForce[] {
  const all = policiesInForce(view).filter(({ spec }) => isolates(spec, direction));
  const isWide = ({ spec }: InForce) => selectsEveryone(spec.peerSelector);
  return [...all.filter(isWide), ...all.filter((one) => !isWide(one))];
}

/** Returns true if a peer has in a direction only the connections that a rule allows. */
export function isIsolated(view: View, peer: PeerRecord, direction: Direction): boolean {
  if (view.state.networks.get(peer.spec.network)?.spec.defaultAction === 'DENY') return true;
  return isolating[direction](view).some(({ spec }) => isSubject(spec, peer));
}

/** A rule of an ALLOW in force with its place in its policy, and the peers in scope that it is about. */
export interface AllowRule extends InForce {
  readonly rule: Rule;
  readonly index: number;
  readonly subjects: readonly PeerRecord[];
}

/** The rules of ALLOW policies in force by which somebody reaches a peer in scope, or it somebody. */
export const rulesAtScope: Readonly<Record<Direction, (view: View) => readonly AllowRule[]>> = {
  ingress: memoize((view: View) => rulesIn(view, 'ingress')),
  egress: memoize((view: View) => rulesIn(view, 'egress')),
};

function rulesIn(view: View, direction: Direction): AllowRule[] {
  return policiesInForce(view).flatMap(({ policy, spec }) => {
    const rules = spec.action === 'ALLOW' ? rulesOf(spec, direction) : undefined;
    if (!rules?.length) return [];
    const subjects = peersInScope(view).filter((peer) => isSubject(spec, peer));
    return subjects.length === 0 ? [] : rules.map((rule, index) => ({ policy, spec, rule, index, subjects }));
  });
}
