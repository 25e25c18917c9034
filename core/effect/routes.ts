import { isPublicBlock } from '../model/network-blocks.ts';
import { isRenumbering, RENUMBERING_MS } from '../model/renumbering.ts';
import type { NetworkModel } from '../reachability/model.ts';
import { counted } from './markdown.ts';

/** A block that nodes route into their tunnel from a change on. */
export interface RouteChange {
  readonly network: string;
  readonly block: string;
  /** Network and block before; absent for a network that is new. */
  readonly from?: { readonly network: string; readonly block: string };
  /** Names of the peers that take the route. */
  readonly peers: readonly string[];
  /** Tells whether the block holds addresses of the Internet. */
  readonly isPublic: boolean;
}

/** A {@link RouteChange} as answers show it. */
export interface RouteView {
  readonly text: string;
  readonly network: string;
  readonly block: string;
  readonly block_before: string | null;
  readonly peers: number;
  readonly is_public: boolean;
}

/** The part of a network that decides what nodes route. */
type Routed = Pick<NetworkModel, 'networks' | 'peers'>;

/** Returns the blocks that peers route after a change and not before, public blocks first. */
export function routesOf(before: Routed, after: Routed): readonly RouteChange[] {
  const blocks = new Map(before.networks.map(({ name, cidr }) => [name, cidr]));
  const changed = after.networks.filter(({ name, cidr }) => blocks.get(name) !== cidr);
  const networkBefore = new Map(before.peers.map(({ name, uid, network }) => [uid ?? name, network]));
  const moved = after.peers.filter(({ name, uid, network, address }) => {
    const was = networkBefore.get(uid ?? name);
    return address !== undefined && was !== undefined && was !== network;
  });
  const isMoved = new Set(moved);
  const ofNetworks = changed.map(({ name: network, cidr: block }): RouteChange => {
    const was = blocks.get(network);
    const stay = after.peers.filter((peer) => peer.network === network && peer.address && !isMoved.has(peer));
    return {
      ...{ network, block, isPublic: isPublicBlock(block) },
      ...(was !== undefined && { from: { network, block: was } }),
      peers: was === undefined ? [] : stay.map(({ name }) => name),
    };
  });
  const groups = Map.groupBy(moved, ({ name, uid, network }) => `${networkBefore.get(uid ?? name)}/${network}`);
  const ofMoves = [...groups.values()].flatMap((peers): RouteChange[] => {
    const [{ name = '', uid, network = '' } = {}] = peers;
    const old = networkBefore.get(uid ?? name) ?? '';
    const block = after.networks.find((one) => one.name === network)?.cidr ?? '';
    const from = { network: old, block: blocks.get(old) ?? '' };
    return [{ network, block, from, peers: peers.map((peer) => peer.name), isPublic: isPublicBlock(block) }];
  });
  return [...ofNetworks, ...ofMoves].sort((a, b) => Number(b.isPublic) - Number(a.isPublic));
}

const MAX_NAMES = 3;

/** Returns a route change as a clause without a subject. */
export function routeText({ network, block, from, peers, isPublic }: RouteChange): string {
  const named = `${isPublic ? 'the public block ' : ''}${block}`;
  if (from === undefined) return `adds the network ${network} with ${isPublic ? named : `the block ${block}`}`;
  if (from.network === network && peers.length > 0 && isRenumbering(from.block, block)) {
    const keep = peers.length === 1 ? 'keeps its' : 'keep their';
    return `renumbers the network ${network} from ${from.block} to ${named}: ${counted(peers.length, 'peer')} ${keep} place in the block; old addresses hold for ${RENUMBERING_MS / 60_000} min, then connections to them end`;
  }
  if (from.network === network) {
    return `changes the block of the network ${network} from ${from.block} to ${named} (${counted(peers.length, 'peer')})`;
  }
  const more = peers.length - MAX_NAMES;
  const names = `${peers.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `moves ${names} from the network ${from.network} (${from.block}) to ${network} (${named})`;
}

/** Returns route changes as answers show them. */
export function routeViews(routes: readonly RouteChange[]): RouteView[] {
  return routes.map((route) => ({
    text: routeText(route),
    network: route.network,
    block: route.block,
    block_before: route.from?.block ?? null,
    peers: route.peers.length,
    is_public: route.isPublic,
  }));
}

/** Tells whether an effect has nodes route addresses of the Internet, which a platform administrator alone approves. */
export function routesPublicBlock({ routes = [] }: { readonly routes?: readonly RouteView[] }): boolean {
  return routes.some(({ is_public: isPublic }) => isPublic);
}
