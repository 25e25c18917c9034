import type { EffectSide } from '../effect/effect.ts';
import { type PortSpan, spanText } from '../effect/port-spans.ts';
import { lookUpById } from '../model/find.ts';
import { sameAccess } from '../model/peer-access.ts';
import type { PortEntry } from '../model/policy.ts';
import type { AgentRecord, PeerRecord } from '../model/resources.ts';
import { sameValue } from '../model/value.ts';
import { NO_PORTS, PortSets } from '../reachability/port-sets.ts';
import { ancestors, family, isLive } from '../state/agent-tree.ts';
import type { NetworkState } from '../state/state.ts';
import { boundedLayersOf, reachOf } from './agent-reach.ts';
import { begins, type Future } from './future.ts';
import { isolationBeyond } from './isolation.ts';
import { policyBeyond } from './policy-within-reach.ts';
import type { Comparison } from './state-after.ts';

/** A connection that an agent would decide about although it is not within its reach. */
export interface BeyondRow {
  readonly src: string;
  readonly dst: string;
  readonly ports: string;
}

/** The part of a change that exceeds an agent's reach. */
export interface Excess {
  /** As sentences; names in them are data. */
  readonly reasons: readonly string[];
  readonly rows: readonly BeyondRow[];
}

/** The same change at other times and for other peers. */
export interface Views {
  readonly future?: Pick<Future, 'opened' | 'newcomers'>;
  /** Made when they are looked at. */
  readonly newcomers?: Iterable<Comparison>;
}

const ENDED = 'once policies that cover them have ended';
/** Rows that an answer names. */
const MAX_ROWS = 20;

/**
 * Holds a change to the reach of the agent that makes it: what it opens, what a delegated agent closes, whether anybody of
 * its line would reach more than before, and whether a policy could ever be about more than its reach. Undefined where
 * all of it is within. An unknown agent reaches nothing.
 */
export function excessOf(
  agent: AgentRecord | undefined,
  change: Comparison,
  { future, newcomers = [] }: Views = {},
): Excess | undefined {
  const ports = new PortSets();
  const rows = [...beyondRows(agent, change, 'opened', ports)];
  const reasons = rows.length > 0 ? ['it opens connections beyond the reach of the agent'] : [];
  const [joining, ...later] = rows.length > 0 || !future ? [] : future.opened.views;
  const ahead: [string, readonly Comparison[]][] = [
    ['with peers that join later', joining ? [joining] : []],
    [future && begins(future) ? 'once policies have begun or ended' : ENDED, later],
  ];
  for (const [when, views] of ahead) {
    if (rows.length > 0 || !views.some((view) => opensBeyond(view))) continue;
    reasons.push(`it opens connections beyond the reach of the agent ${when}`);
  }
  if (future && !future.newcomers) reasons.push('more kinds of peers may join later than it can be tried with');
  if (agent?.spec.parentRef !== undefined && rows.length < MAX_ROWS) {
    const closed = [...beyondRows(agent, change, 'closed', ports)];
    if (closed.length > 0) reasons.push('it closes connections beyond the reach of the agent');
    rows.push(...closed);
    for (const view of closed.length > 0 ? [] : newcomers) {
      const [row] = beyondRows(agent, view, 'closed', ports);
      if (!row) continue;
      reasons.push('it shuts off peers that join later, beyond the reach of the agent');
      break;
    }
  }
  if (agent) reasons.push(...enlarged(agent, change, ports));
  reasons.push(...beyondPolicies(agent, change, ports), ...openedToOutside(change));
  return reasons.length === 0 ? undefined : { reasons, rows: rows.slice(0, MAX_ROWS) };

  function opensBeyond(view: Comparison): boolean {
    rows.push(...beyondRows(agent, view, 'opened', ports));
    return rows.length > 0 || openedToOutside(view).length > 0;
  }
}

function* beyondRows(
  agent: AgentRecord | undefined,
  { before, was, effect, now }: Comparison,
  side: EffectSide,
  ports: PortSets,
): Generator<BeyondRow> {
  const within = agent ? reachOf({ state: before, reach: was, now }, agent, ports) : () => NO_PORTS;
  let found = 0;
  for (const group of effect.groups) {
    const spans = group[side];
    if (spans.length === 0) continue;
    const asked = ports.ofEntries(spans.map(entryOf));
    for (const dst of group.dst) {
      const peer = before.peers.get(dst);
      const src = group.src.find((name) => name !== dst);
      if (src === undefined || (peer && ports.minus(asked, within(peer)) === NO_PORTS)) continue;
      if (found >= MAX_ROWS) return;
      found += 1;
      yield { src, dst, ports: spanText(spans) };
    }
  }
}

function entryOf({ protocol, from, to }: PortSpan): PortEntry {
  return { protocol, ...(from !== undefined && { port: from, endPort: to ?? from }) };
}

/** Members of the agent's line, up and down, whose reach would grow on a peer that is there already. */
function enlarged(agent: AgentRecord, change: Comparison, ports: PortSets): string[] {
  const { before, after, was, is, now } = change;
  const line = [...ancestors(before, agent), ...family(before, agent)].filter(
    (member) => isLive(member, now) && mayReachElse(member, change),
  );
  return line.flatMap((member) => {
    const then = after.agents.get(member.name);
    if (then === undefined || then.uid !== member.uid) return [];
    const had = reachOf({ state: before, reach: was, now }, member, ports);
    const has = reachOf({ state: after, reach: is, now }, then, ports);
    const grown = firstGrown(before, after, (old, next) => ports.minus(has(next), had(old)) !== NO_PORTS);
    return grown === undefined ? [] : [`it adds ${grown.name} to what the agent ${member.name} may reach`];
  });
}

/** Tells whether anything changes that an agent's reach follows from: peers, what they may open, its line of agents. */
function mayReachElse(member: AgentRecord, { before, after, effect }: Comparison): boolean {
  if (before.peers !== after.peers || effect.groups.length > 0) return true;
  const [line, then] = [ancestors(before, member), ancestors(after, member)];
  return (
    after.agents.get(member.name) !== member ||
    line.length !== then.length ||
    line.some((ancestor, index) => ancestor !== then[index])
  );
}

function firstGrown(
  before: NetworkState,
  after: NetworkState,
  grows: (old: PeerRecord, next: PeerRecord) => boolean,
): PeerRecord | undefined {
  for (const next of after.peers.values()) {
    const old = lookUpById(before.peers, next.uid);
    if (old && grows(old, next)) return next;
  }
  return undefined;
}

/** Names addresses outside of the network that a changed policy or peer opens to. New policies are bound by `policyBeyond`. */
function openedToOutside({ before, after, effect }: Comparison): string[] {
  const undone = [...before.policies.values()].some(
    ({ name, spec }) => !sameValue(after.policies.get(name)?.spec, spec),
  );
  const moved = [...before.peers.values()].some((peer) => {
    const next = after.peers.get(peer.name);
    return next && next !== peer && !sameAccess(peer, next);
  });
  if (!undone && !moved) return [];
  if (effect.outside === undefined) return ['it touches more addresses that are no peer than can be compared'];
  const isOpened = effect.outside.some(({ opened }) => opened.length > 0);
  return isOpened ? ['it opens connections from or to addresses that are no peer'] : [];
}

function beyondPolicies(agent: AgentRecord | undefined, { before, after, now }: Comparison, ports: PortSets): string[] {
  if (before.policies === after.policies) return [];
  const layers = agent ? boundedLayersOf(before, agent, now) : [[]];
  const isDelegated = agent?.spec.parentRef !== undefined;
  return [...after.policies.values()].flatMap(({ name, spec }) => {
    if (sameValue(before.policies.get(name)?.spec, spec)) return [];
    const beyond =
      policyBeyond(spec, layers, after, ports, isDelegated) ??
      (agent && isDelegated ? isolationBeyond(spec, agent, layers, { before, after }, ports) : undefined);
    return beyond === undefined ? [] : [`the policy ${name} ${beyond}`];
  });
}
