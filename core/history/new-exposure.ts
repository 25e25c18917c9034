import { type PortSpan, spansOf, subtract } from '../effect/port-spans.ts';
import { ALL_PORTS, NO_PORTS, type PortSetId } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { ChangeRef } from './row-causes.ts';
import type { RowGroup } from './row-groups.ts';

/** Peers that everyone can reach who could not before: every other peer of their network, or addresses outside. */
export interface NewExposure {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly opened: readonly PortSpan[];
  /** Changes that opened these connections; undefined where there was too much to search. */
  readonly changes: readonly ChangeRef[] | undefined;
}

/** Stands for every other peer of a network. */
export const EVERYONE = 'everyone';

/** New reach from outside or from everyone, in the order of the groups that opened it. */
export function newExposures(groups: readonly RowGroup[], was: Reachability, is: Reachability): NewExposure[] {
  const outside = groups.flatMap(({ side, src, dst, old, new: now, changes }): NewExposure[] => {
    const opened = side === 'src' ? subtract(spansOf(now), spansOf(old)) : [];
    return opened.length > 0 ? [{ src, dst, opened, changes }] : [];
  });
  return [...outside, ...toEveryone(groups, was, is)];
}

function toEveryone(groups: readonly RowGroup[], was: Reachability, is: Reachability): NewExposure[] {
  const opening = groups.filter(
    ({ side, old, new: now }) => side === undefined && subtract(spansOf(now), spansOf(old)).length > 0,
  );
  const byPeer = new Map<string, RowGroup[]>();
  for (const group of opening) {
    for (const name of group.dst) {
      const own = byPeer.get(name);
      if (own) own.push(group);
      else byPeer.set(name, [group]);
    }
  }
  const openTo = { was: commonTo(was), is: commonTo(is) };
  const found = new Map<string, NewExposure & { readonly dst: string[] }>();
  for (const [name, own] of byPeer) {
    const now = openTo.is(name);
    const opened = now === undefined ? [] : subtract(now, openTo.was(name) ?? []);
    if (opened.length === 0) continue;
    const isKnown = own.every(({ changes }) => changes !== undefined);
    const texts = new Set(own.flatMap(({ changes = [] }) => changes.map((change) => JSON.stringify(change))));
    const changes = isKnown ? [...texts].map((text): ChangeRef => JSON.parse(text)) : undefined;
    const key = JSON.stringify([opened, changes]);
    const known = found.get(key);
    if (known) known.dst.push(name);
    else found.set(key, { src: [EVERYONE], dst: [name], opened, changes });
  }
  return [...found.values()];
}

/** The ports on which all other peers of its network that take part reach a peer; undefined where there are not two. */
function commonTo(reach: Reachability): (name: string) => readonly PortSpan[] | undefined {
  const { endpoints, ports } = reach.parts;
  const units = reach.units().filter(({ external }) => !external);
  // Towards an ancestor those that are bound by it have a row of their own, so that its unit says nothing of it.
  const apart = new Set(units.flatMap(({ ancestors }) => ancestors));
  const known = new Map<string, readonly PortSpan[] | undefined>();
  return (name) => {
    const place = reach.placeOf(name);
    const endpoint = place === undefined ? undefined : endpoints[place];
    if (place === undefined || !endpoint || endpoint.dead !== undefined) return undefined;
    if (!apart.has(place) && known.has(endpoint.unit)) return known.get(endpoint.unit);
    let [common, sources]: [PortSetId, number] = [ALL_PORTS, 0];
    for (const { members } of units) {
      const others = members.filter((member) => member !== place);
      const [first] = others;
      const source = first === undefined ? undefined : endpoints[first];
      if (first === undefined || !source || source.dead !== undefined || source.network !== endpoint.network) continue;
      sources += others.length;
      common = ports.meet(common, reach.pair(first, place));
      if (common === NO_PORTS) break;
    }
    const spans = sources < 2 && common !== NO_PORTS ? undefined : spansOf(ports.describe(common));
    if (!apart.has(place)) known.set(endpoint.unit, spans);
    return spans;
  };
}
