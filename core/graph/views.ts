import { LRUCache } from 'lru-cache';
import { addressesOf } from '../changes/renumber.ts';
import type { PeerRecord } from '../model/resources.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { NetworkState } from '../state/state.ts';
import { graphPeer, rulesWith } from './entries.ts';
import type { FutureView } from './future-views.ts';
import { type Block, GraphView } from './view.ts';

/** Peers that the kept views of one network tell of, some 150 bytes each. */
const MAX_BLOCKS = 200_000;

/** The views of one network at one instant, each made when it is first asked for. */
export class GraphViews {
  readonly #state: Pick<NetworkState, 'peers' | 'networks'>;
  readonly #engines: readonly Engine[];
  /** By key. They go with the engine of their network. */
  readonly #kept = new LRUCache<string, GraphView>({ maxSize: MAX_BLOCKS });

  constructor(state: Pick<NetworkState, 'peers' | 'networks'>, now: Reachability, ahead: readonly FutureView[]) {
    this.#state = state;
    this.#engines = [{ at: 0, reachability: now }, ...ahead];
  }

  /** The view in which a peer sees the network. */
  of({ name }: PeerRecord): GraphView {
    const key = this.#keyOf(name);
    const known = this.#kept.get(key);
    if (known) return known;
    const view = new GraphView(this.#blocks(name, key));
    this.#kept.set(key, view, { size: Math.min(MAX_BLOCKS, 1 + view.blocks.size) });
    return view;
  }

  /** Peers of one key are told the same, at every instant ahead too. Who bounds others differs from everybody else to them. */
  #keyOf(name: string): string {
    return this.#engines
      .map(({ reachability }) => {
        const place = reachability.placeOf(name);
        if (place === undefined) return `${name} is not there`;
        const { unit } = reachability.parts.endpoints[place] ?? {};
        return reachability.heirsOf(place).length > 0 ? `${unit} ${place}` : `${unit}`;
      })
      .join('\n');
  }

  #blocks(name: string, key: string): Block[] {
    const blocks: Block[] = [];
    for (const other of this.#namesAround(name)) {
      const block = this.#block(name, other);
      if (block) blocks.push(block);
    }
    const twin = this.#twinOf(name, key);
    const own = twin === undefined ? undefined : this.#block(twin, name);
    return own ? [...blocks, own] : blocks;
  }

  /** Now: what opens only later is told then. */
  #namesAround(name: string): string[] {
    const [now] = this.#engines;
    return now?.reachability.neighbours(name) ?? [];
  }

  /** How one peer sees another; undefined where they have nothing to do with each other. */
  #block(name: string, other: string): Block | undefined {
    const peer = this.#state.peers.get(other);
    const addresses = peer ? addressesOf(peer, this.#state) : [];
    if (peer === undefined || addresses.length === 0) return undefined;
    const rules = (src: string, dst: string) => {
      const [allowed = [], ...later] = this.#engines.map(({ reachability }) => reachability.allowed(src, dst));
      if (isNothing(allowed)) return [];
      return rulesWith(
        peer,
        addresses,
        allowed,
        later.map((then, nth) => ({ at: this.#engines[nth + 1]?.at ?? 0, allowed: then })),
      );
    };
    const [into, out] = [rules(other, name), rules(name, other)];
    return into.length + out.length === 0 ? undefined : { peer: graphPeer(peer, addresses), in: into, out };
  }

  /** Another peer of the same key. */
  #twinOf(name: string, key: string): string | undefined {
    const [now] = this.#engines;
    const place = now?.reachability.placeOf(name);
    if (now === undefined || place === undefined) return undefined;
    const { parts } = now.reachability;
    const self = parts.endpoints[place];
    const alike = now.reachability.members()[self?.classIndex ?? -1] ?? [];
    for (const other of alike) {
      if (other === place || parts.endpoints[other]?.unit !== self?.unit) continue;
      const twin = now.reachability.nameOf(other);
      if (this.#keyOf(twin) === key) return twin;
    }
    return undefined;
  }
}

interface Engine {
  readonly at: number;
  readonly reachability: Reachability;
}

function isNothing(allowed: AllowedPorts): boolean {
  return allowed !== 'ALL' && allowed.length === 0;
}

/** By the engine of the present: what else views follow from is compared. */
const latest = new WeakMap<Reachability, Latest>();

interface Latest extends Pick<NetworkState, 'peers' | 'networks'> {
  readonly ahead: readonly FutureView[];
  readonly views: GraphViews;
}

/** The views of a network, the same as long as nothing in them differs. */
export function viewsOf(
  { peers, networks }: NetworkState,
  now: Reachability,
  ahead: readonly FutureView[],
): GraphViews {
  const known = latest.get(now);
  if (known && known.peers === peers && known.networks === networks && isSame(known.ahead, ahead)) return known.views;
  const views = new GraphViews({ peers, networks }, now, ahead);
  latest.set(now, { peers, networks, ahead, views });
  return views;
}

function isSame(a: readonly FutureView[], b: readonly FutureView[]): boolean {
  return (
    a.length === b.length &&
    a.every(({ at, reachability }, nth) => b[nth]?.at === at && b[nth].reachability === reachability)
  );
}
