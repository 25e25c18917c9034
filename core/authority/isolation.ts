import { lookUpById } from '../model/find.ts';
import { type PolicySpec, type Rule, rulesOf, type Selector } from '../model/policy.ts';
import { AGENT_LABEL, PARENT_LABEL } from '../model/presets.ts';
import type { AgentRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import type { PortSets } from '../reachability/port-sets.ts';
import { family } from '../state/agent-tree.ts';
import { agentOf } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import type { Compared } from './excess.ts';
import type { Layers } from './reach-of.ts';
import { isWithin, selectorWithin } from './within.ts';

/**
 * Whether a policy of a delegated agent could ever shut off peers that are not its to shut off, whichever come to match it
 * later. Whom it isolates is a peer of its own line, or isolated already by what stays; or, where what others open to that
 * peer closes, a peer within its reach on every port. What peers open themselves goes anywhere, so their egress is isolated
 * by an agent alone that reaches everything.
 *
 * @returns what is beyond, as the end of a sentence; undefined where all is within
 */
export function isolationBeyond(
  spec: PolicySpec,
  agent: AgentRecord,
  layers: Layers,
  change: Pick<Compared, 'before' | 'after'>,
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

/** A DENY with rules closes what these say and leaves the rest. */
export function isolates(spec: PolicySpec, direction: Rule['direction']): boolean {
  const rules = rulesOf(spec, direction);
  if (rules === undefined) return spec.ingress === undefined && spec.egress === undefined;
  return spec.action === 'ALLOW' || rules.length === 0;
}

/** Whether all of whom a policy is about are isolated without it, by what ends neither with its time nor with an agent. */
function isIsolated(
  { network, peerSelector = {} }: PolicySpec,
  direction: Rule['direction'],
  { before, after }: Pick<Compared, 'before' | 'after'>,
): boolean {
  const standing = [...after.policies.values()].filter(
    ({ name, spec, annotations }) =>
      sameValue(before.policies.get(name)?.spec, spec) &&
      spec.expiresAt === undefined &&
      annotations[WRITTEN_BY] === undefined &&
      isolates(spec, direction) &&
      selectorWithin(peerSelector, spec.peerSelector ?? {}, after.peers),
  );
  const networks = network === undefined ? [...after.networks.keys()] : [network];
  return networks.every(
    (name) =>
      after.networks.get(name)?.spec.defaultAction === 'DENY' ||
      standing.some(({ spec }) => spec.network === undefined || spec.network === name),
  );
}

/** Whether only peers of the agent and of its sub-agents are meant. */
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
