import type { PortEntry } from '../network/policy.ts';
import type { NetworkState } from '../network/state.ts';
import { NO_PORTS } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { Effect } from './effect.ts';
import { type PortSpan, spanText } from './port-spans.ts';

/**
 * What a delegated agent would open although its own delegation bound does not reach there: it may not do through others
 * what it may not do itself. Undefined for everyone else, and where all of it is inside the bound as it is before the change.
 */
export function beyondDelegation(
  state: NetworkState,
  was: Reachability,
  { groups }: Effect,
  requesterId: string | undefined,
): string | undefined {
  const agent = [...state.agents.values()].find(({ uid }) => uid === requesterId);
  if (agent?.spec.parentRef === undefined) return undefined;
  const { endpoints, ports } = was.parts;
  const own = agent.status.peerRef === undefined ? undefined : was.placeOf(agent.status.peerRef);
  const self = own === undefined ? undefined : endpoints[own];
  for (const { src, dst, opened } of groups) {
    if (opened.length === 0) continue;
    const asked = ports.ofEntries(opened.map(entryOf));
    for (const name of dst) {
      const place = was.placeOf(name);
      const target = place === undefined ? undefined : endpoints[place];
      const bound = self && target && place !== undefined ? was.boundOn(self, place, target) : NO_PORTS;
      if (ports.minus(asked, bound) === NO_PORTS) continue;
      return `it would open ${name} to ${src[0] ?? ''} on ${spanText(opened)}, beyond what the agent ${agent.name} was delegated`;
    }
  }
  return undefined;
}

function entryOf({ protocol, from, to }: PortSpan): PortEntry {
  return { protocol, ...(from !== undefined && { port: from, endPort: to ?? from }) };
}
