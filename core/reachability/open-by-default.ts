import { ClassSpace } from './class-space.ts';
import { classOfPeer } from './endpoint-class.ts';
import { NO_PORTS } from './port-sets.ts';
import type { Reachability } from './reachability.ts';
import { RowTable } from './rows.ts';

type Labels = Readonly<Record<string, string>>;

/** Connections of a network that isolation and the default action alone leave open, without any rule of a policy. */
export interface OpenByDefault {
  /** True where two devices may connect that join without labels and that no policy lists. */
  readonly toNewcomers: boolean;
  /** Ordered pairs of its peers that may connect, delegation bounds aside, of those there are. */
  readonly openPairs: number;
  readonly pairs: number;
}

/**
 * Returns what is open by default in a network.
 *
 * Example: web-1, db-1 and db-2 in a network that allows by default. All 6 pairs are open, and future peers reach each other.
 * `ALLOW role=db ingress from role=web` isolates the dbs: connections to them are no longer open by default, and 2 pairs are
 * left, those to web-1. A `DENY` of every peer, without rules, leaves none, and nothing for future peers.
 */
export function openByDefault(reach: Reachability, network: string): OpenByDefault {
  const { table, endpoints } = reach.parts;
  const counts = { members: 0, sending: 0, receiving: 0, both: 0 };
  for (const [classIndex, places] of reach.members().entries()) {
    const living = places.filter((place) => endpoints[place]?.dead === undefined).length;
    if (living === 0 || reach.parts.space.classes[classIndex]?.network !== network) continue;
    const sends = table.fallbackOf('egress', classIndex) !== NO_PORTS;
    const receives = table.fallbackOf('ingress', classIndex) !== NO_PORTS;
    counts.members += living;
    if (sends) counts.sending += living;
    if (receives) counts.receiving += living;
    if (sends && receives) counts.both += living;
  }
  return {
    toNewcomers: isOpenToFuturePeers(reach, network),
    openPairs: counts.sending * counts.receiving - counts.both,
    pairs: counts.members * (counts.members - 1),
  };
}

function isOpenToFuturePeers(reach: Reachability, network: string): boolean {
  const [newcomer] = futurePeersIn(reach, network, [{}]);
  return newcomer?.sends === true && newcomer.receives;
}

interface FuturePeer {
  readonly sends: boolean;
  readonly receives: boolean;
}

/**
 * The first labels with which a device that joins may connect by default where it may not before, to or from one that has
 * any of them; undefined where none may.
 */
export function openedByDefaultTo(
  [before, after]: readonly [Reachability, Reachability],
  network: string,
  kinds: readonly Labels[],
): Labels | undefined {
  const [was, is] = [futurePeersIn(before, network, kinds), futurePeersIn(after, network, kinds)];
  const [anySends, anyReceives] = [is.some(({ sends }) => sends), is.some(({ receives }) => receives)];
  return kinds.find((_, index) => {
    const [old, now] = [was[index], is[index]];
    return (now?.sends && !old?.sends && anyReceives) || (now?.receives && !old?.receives && anySends);
  });
}

/** Returns what isolation and the default action leave to devices that join with these labels and that no policy lists. */
function futurePeersIn({ parts, model }: Reachability, network: string, kinds: readonly Labels[]): FuturePeer[] {
  // With a space, which no name of a peer has: no policy lists it.
  const classes = kinds.map((labels) => classOfPeer({ name: 'a newcomer', labels, network }, parts.space.projection));
  const space = new ClassSpace(parts.space.projection, [
    ...new Map(classes.map((one) => [one.signature, one])).values(),
  ]);
  const codes = parts.policies.map(({ code }) => code);
  const table = new RowTable(space, parts.ports, new Map(), codes, model.networks);
  return classes.map(({ signature }) => {
    const index = space.indexOf(signature) ?? 0;
    const has = (direction: 'egress' | 'ingress') => table.fallbackOf(direction, index) !== NO_PORTS;
    return { sends: has('egress'), receives: has('ingress') };
  });
}
