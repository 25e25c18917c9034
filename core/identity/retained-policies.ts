import type { Op } from '../base/ports.ts';
import { draftOf, type RecordDraft } from '../base/record.ts';
import { type Closing, closingDirections, closingsOf } from '../model/closings.ts';
import { lookUpById } from '../model/find.ts';
import type { PolicySpec, Selector } from '../model/policy.ts';
import { endOf, isolates, rulesOf } from '../model/policy-match.ts';
import { AGENT_LABEL, isReserved, PARENT_LABEL } from '../model/presets.ts';
import type { AgentRecord, PolicyRecord } from '../model/resources.ts';
import { selectorWithin } from '../model/selector-within.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { ancestors, isOpen } from '../state/agent-tree.ts';
import { agentOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';

/** A policy that stays when its agent ends, with what it closes alone. */
export interface RetainedPolicy {
  readonly before: PolicyRecord;
  readonly after: RecordDraft<'MeshPolicy'>;
}

export interface RetainedPolicies {
  readonly kept: readonly RetainedPolicy[];
  /** Holds that what closes the same as a policy that goes is still there at the commit. */
  readonly checks: readonly Op[];
}

interface AgentRemoval {
  readonly state: NetworkState;
  readonly agents: readonly AgentRecord[];
  /** Policies that would be deleted with the agents. */
  readonly policies: readonly PolicyRecord[];
  readonly now: number;
}

/**
 * Returns the policies of agents that end whose removal could open something: for peers of today or later, beside those that
 * end too, and where nothing that stays closes the same. A yes may be too strict, never too lax.
 */
export function retainedPolicies(ending: AgentRemoval): RetainedPolicies {
  const { state, policies, now } = ending;
  const going = new Set(policies);
  const staying = [...state.policies.values()].filter((policy) => !going.has(policy));
  const kept: RetainedPolicy[] = [];
  const checks = new Map<string, Op>();
  for (const before of policies) {
    if (endOf(before.spec) <= now || isOfRemovedPeers(before.spec.peerSelector ?? {}, ending)) continue;
    const covers = closingDirections(before.spec)
      .filter((closing) => !isAboutRemovedPeers(closing, ending))
      .map((closing) => coverOf(before.spec, closing, [...staying, ...kept.map(({ after }) => after)], state));
    if (covers.every((cover) => cover !== undefined)) {
      for (const op of covers.flat()) checks.set(`${op.key.kind}/${op.key.name}`, op);
    } else kept.push({ before, after: retainedPolicy(before, ending) });
  }
  return { kept, checks: [...checks.values()] };
}

/** Passes the policy to the next agent above that stays, else to the workspace. */
function retainedPolicy(before: PolicyRecord, { state, agents }: AgentRemoval): RecordDraft<'MeshPolicy'> {
  const { [WRITTEN_BY]: author = '', ...rest } = before.annotations;
  const writer = lookUpById(state.agents, author);
  const isEnding = new Set(agents);
  const heir = writer && ancestors(state, writer).find((agent) => isOpen(agent) && !isEnding.has(agent));
  return {
    ...draftOf(before),
    labels: Object.fromEntries(Object.entries(before.labels).filter(([key]) => !isReserved(key))),
    annotations: heir ? { ...rest, [WRITTEN_BY]: heir.uid } : rest,
    spec: closingsOf(before.spec),
  };
}

/** Tells whether only peers are meant that end too. */
function isOfRemovedPeers(subject: Selector, { state: { peers }, agents }: AgentRemoval): boolean {
  const names = new Set(agents.map(({ name }) => name));
  const goes = (id: string) => {
    const peer = lookUpById(peers, id);
    return peer === undefined || names.has(agentOf(peer) ?? '');
  };
  if (subject.peers?.every(goes)) return true;
  return agents.some(({ uid }) =>
    [AGENT_LABEL, PARENT_LABEL].some((key) => selectorWithin(subject, { matchLabels: { [key]: uid } }, peers)),
  );
}

/** Tells whether a DENY closes connections with peers alone that end too. */
function isAboutRemovedPeers({ denied }: Closing, ending: AgentRemoval): boolean {
  if (denied === undefined) return false;
  return denied.every(
    ({ peers }) =>
      peers.length > 0 &&
      peers.every((entry) => entry !== '*' && entry.peerSelector && isOfRemovedPeers(entry.peerSelector, ending)),
  );
}

type Policy = Pick<PolicyRecord, 'name' | 'spec'> & Partial<Pick<PolicyRecord, 'revision'>>;
type Check = Extract<Op, { readonly op: 'check' }>;

/** Returns checks of the records that close the same; undefined where none do. */
function coverOf(
  spec: PolicySpec,
  { direction, denied }: Closing,
  staying: readonly Policy[],
  { networks, peers }: NetworkState,
): Check[] | undefined {
  const subject = spec.peerSelector ?? {};
  const policy = staying.find(
    ({ spec: other }) =>
      endOf(other) >= endOf(spec) &&
      (other.network === undefined || other.network === spec.network) &&
      selectorWithin(subject, other.peerSelector ?? {}, peers) &&
      (denied ? other.action === 'DENY' && sameValue(rulesOf(other, direction), denied) : isolates(other, direction)),
  );
  // A policy that this commit keeps has no revision to check yet.
  if (policy) return policy.revision === undefined ? [] : [check('MeshPolicy', policy.name, policy.revision)];
  if (denied) return undefined;
  const named = spec.network === undefined ? [...networks.values()] : [networks.get(spec.network)];
  const isClosed = named.every((network) => network?.spec.defaultAction === 'DENY');
  return isClosed
    ? named.flatMap((network) => (network ? check('MeshNetwork', network.name, network.revision) : []))
    : undefined;
}

function check(kind: 'MeshPolicy' | 'MeshNetwork', name: string, revision: number): Check {
  return { op: 'check', key: { kind, name }, revision };
}
