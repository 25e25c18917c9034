import type { ReadSet } from '../base/ports.ts';
import { lookUpById } from '../model/find.ts';
import type { PolicySpec, Rule, Selector } from '../model/policy.ts';
import { isolates } from '../model/policy-match.ts';
import { AGENT_LABEL, PARENT_LABEL } from '../model/presets.ts';
import type { AgentRecord } from '../model/resources.ts';
import { selectorWithin } from '../model/selector-within.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { PortSets } from '../reachability/port-sets.ts';
import { family } from '../state/agent-tree.ts';
import { agentOf } from '../state/network-model.ts';
import { networkReadSet, readSetOn } from '../state/read-set.ts';
import type { NetworkState } from '../state/state.ts';
import { type Layers, layersOf } from './agent-reach.ts';
import { isWithin } from './policy-within-reach.ts';
import type { Comparison } from './state-after.ts';

/**
 * Tells whether a policy of a delegated agent could ever isolate peers that are not its to isolate, whichever come to match
 * it later. It may isolate peers of its own line, peers that lasting policies isolate already, and, for ingress, peers
 * within its reach on every port. The egress of a peer goes anywhere, so only an agent that reaches everything isolates it.
 *
 * @returns the end of a sentence that names the excess; undefined where all is within
 */
export function isolationBeyond(
  spec: PolicySpec,
  agent: AgentRecord,
  layers: Layers,
  change: Pick<Comparison, 'before' | 'after'>,
  ports: PortSets,
): string | undefined {
  const subject = spec.peerSelector ?? {};
  if (isOwn(subject, agent, change.before)) return undefined;
  const { peers } = change.after;
  const isBeyond = (['ingress', 'egress'] as const).some((direction) => {
    if (!isolates(spec, direction) || isIsolated(spec, direction, change)) return false;
    return !isWithin(direction === 'ingress' ? [{ peerSelector: subject }] : [], [], { layers, ports, peers });
  });
  return isBeyond ? 'isolates peers, of today or later, beyond its reach' : undefined;
}

/**
 * Policies of delegated agents that isolate peers beyond their reach by a change, because what isolated these goes. They
 * were written when they closed nothing.
 */
export function isolatingFromNowOn({ before, after }: Pick<Comparison, 'before' | 'after'>): string[] {
  if (before.policies === after.policies && before.networks === after.networks) return [];
  const ports = new PortSets();
  return [...after.policies.values()].flatMap(({ name, spec, annotations }) => {
    const agent = lookUpById(after.agents, annotations[WRITTEN_BY] ?? '');
    if (agent?.spec.parentRef === undefined || !before.policies.has(name)) return [];
    const layers = layersOf(after, agent);
    const isBeyond = (state: NetworkState) =>
      isolationBeyond(spec, agent, layers, { before: state, after: state }, ports) !== undefined;
    return isBeyond(after) && !isBeyond(before) ? [name] : [];
  });
}

/** Returns the read set of {@link isolatingFromNowOn}: where no agent is delegated, agents alone. */
export function isolationReadSet(state: NetworkState): ReadSet {
  const isDelegated = [...state.agents.values()].some(({ spec }) => spec.parentRef !== undefined);
  return isDelegated ? networkReadSet(state) : readSetOn(state, ['AgentIdentity']);
}

/** Returns a sentence on such policies, without a capital or a stop. */
export function isolatesText(policies: readonly string[]): string {
  const [which, whose] = policies.length === 1 ? ['policy', 'a delegated agent'] : ['policies', 'delegated agents'];
  return `the ${which} ${policies.join(', ')} of ${whose} would isolate peers beyond what ${policies.length === 1 ? 'it' : 'they'} may reach, which this isolates today`;
}

/**
 * Tells whether policies that end neither with their time nor with an agent isolate all subjects of a policy without it. A
 * policy that names no network holds in later networks too, where defaults and policies of other networks do nothing.
 */
function isIsolated(
  { network, peerSelector = {} }: PolicySpec,
  direction: Rule['direction'],
  { before, after }: Pick<Comparison, 'before' | 'after'>,
): boolean {
  const standing = [...after.policies.values()].filter(
    ({ name, spec, annotations }) =>
      sameValue(before.policies.get(name)?.spec, spec) &&
      spec.expiresAt === undefined &&
      annotations[WRITTEN_BY] === undefined &&
      isolates(spec, direction) &&
      selectorWithin(peerSelector, spec.peerSelector ?? {}, after.peers),
  );
  if (standing.some(({ spec }) => spec.network === undefined)) return true;
  if (network === undefined) return false;
  return (
    after.networks.get(network)?.spec.defaultAction === 'DENY' || standing.some(({ spec }) => spec.network === network)
  );
}

/** Tells whether a selector means peers of the agent and its sub-agents alone. */
function isOwn(subject: Selector, agent: AgentRecord, state: NetworkState): boolean {
  const line = family(state, agent);
  const names = new Set(line.map(({ name }) => name));
  const isOwnPeer = (id: string) => {
    const peer = lookUpById(state.peers, id);
    return peer === undefined || names.has(agentOf(peer) ?? '');
  };
  if (subject.peers?.every(isOwnPeer)) return true;
  return line.some(({ uid }) =>
    [AGENT_LABEL, PARENT_LABEL].some((key) => selectorWithin(subject, { matchLabels: { [key]: uid } }, state.peers)),
  );
}
