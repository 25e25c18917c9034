import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import { nearest, pairOf, relaysOfPair } from './choice.ts';

/** Relays of a pair that are kept ready for it: the one in use, and the one that follows should it fail. */
const KEPT_FOR_PAIR = 2;
/** A peer that says something else of its relays more often than this is taken at its last word, this long after the one before. */
const NEWS_MS = 1_000;
/** Between two questions to one relay whether it has one peer, while that is needed and not known. */
const ASK_AGAIN_MS = 1_000;

interface Peer {
  readonly pair: string;
  theirs: RelayCosts | undefined;
  /** When that was taken. */
  theirsAt: number;
  /** Costs received since, and not taken yet. */
  news: RelayCosts | undefined;
  /** Presence at each relay, by its last answer or a packet of the peer; nothing while that is not known. */
  readonly presence: Map<string, boolean>;
  /** When each was asked last. */
  readonly askedAt: Map<string, number>;
  /** Relays in the order in which they are to be used. */
  order: readonly string[];
  route: string | undefined;
}

/**
 * Which relay carries the packets for each peer: the first in the order of the pair that this node has a session with and that
 * has the peer. So a pair that has not agreed yet, or whose news were lost, still reaches each other.
 */
export class PeerRoutes {
  readonly #ownKey: string;
  /** By name; the first is that of nodes that know no other. */
  #capacities: ReadonlyMap<string, number> = new Map();
  readonly #peers = new Map<string, Peer>();
  /** Peers with news that wait. */
  readonly #late = new Set<string>();
  /** Number of pairs for each relay that use it, or would use it next. */
  readonly #wanted = new Map<string, number>();
  #costs: RelayCosts = new Map();
  readonly #ready = new Set<string>();

  constructor(ownKey: string) {
    this.#ownKey = ownKey;
  }

  get publicKeys(): Iterable<string> {
    return this.#peers.keys();
  }

  /** The relays of the graph. */
  use(capacities: ReadonlyMap<string, number>): void {
    this.#capacities = capacities;
    for (const peer of this.#peers.values()) this.#reorder(peer);
  }

  /** The relay for the packets of a peer; undefined while there is a session with none. */
  routeOf(publicKey: string): string | undefined {
    return this.#peer(publicKey).route;
  }

  /** Forgets all peers but these, and gets to know those that are new. */
  keep(publicKeys: ReadonlySet<string>): void {
    for (const [publicKey, peer] of this.#peers) {
      if (publicKeys.has(publicKey)) continue;
      this.#count(peer, -1);
      this.#peers.delete(publicKey);
      this.#late.delete(publicKey);
    }
    for (const publicKey of publicKeys) this.#peer(publicKey);
  }

  useCosts(costs: RelayCosts): void {
    this.#costs = costs;
    for (const peer of this.#peers.values()) this.#reorder(peer);
  }

  /** Takes the costs of a peer: now, or by `tick`. @returns whether now */
  peerCosts(publicKey: string, theirs: RelayCosts, now: number): boolean {
    const peer = this.#peer(publicKey);
    if (now - peer.theirsAt < NEWS_MS) {
      peer.news = theirs;
      this.#late.add(publicKey);
      return false;
    }
    this.#take(peer, theirs, now);
    return true;
  }

  /** Takes the news that waited for long enough. */
  tick(now: number): void {
    for (const publicKey of this.#late) {
      const peer = this.#peers.get(publicKey);
      if (peer && now - peer.theirsAt < NEWS_MS) continue;
      this.#late.delete(publicKey);
      if (peer?.news) this.#take(peer, peer.news, now);
    }
  }

  #take(peer: Peer, theirs: RelayCosts, now: number): void {
    this.#count(peer, -1);
    peer.theirs = theirs;
    peer.theirsAt = now;
    peer.news = undefined;
    this.#count(peer, 1);
    // Where it left it may have been a moment ago, and where it is new it was not.
    for (const name of peer.presence.keys())
      if (!theirs.has(name) || !peer.presence.get(name)) peer.presence.delete(name);
    peer.askedAt.clear();
    this.#reorder(peer);
  }

  /** The session with a relay began or ended: what it said of peers is void. */
  setReady(name: string, isReady: boolean): void {
    if (isReady) this.#ready.add(name);
    else this.#ready.delete(name);
    for (const peer of this.#peers.values()) {
      peer.presence.delete(name);
      peer.askedAt.delete(name);
      this.#reroute(peer);
    }
  }

  /** The relay was asked whether it has the peer. */
  asked(publicKey: string, name: string, now: number): void {
    this.#peer(publicKey).askedAt.set(name, now);
  }

  /** @returns whether any relay has the peer; undefined while one that was asked has not answered */
  answered(publicKey: string, name: string, isPresent: boolean): boolean | undefined {
    const peer = this.#peer(publicKey);
    peer.presence.set(name, isPresent);
    this.#reroute(peer);
    const said = [...this.#ready].map((ready) => peer.presence.get(ready));
    if (said.includes(true)) return true;
    return said.includes(undefined) ? undefined : false;
  }

  /**
   * A packet of the peer came by a relay. Called for each of them.
   *
   * @returns the relay to be asked whether it still has the peer: this node's packets take another one
   */
  heard(publicKey: string, name: string, now: number): string | undefined {
    const peer = this.#peer(publicKey);
    if (peer.presence.get(name) !== true) {
      peer.presence.set(name, true);
      this.#reroute(peer);
    }
    const { route } = peer;
    return route === undefined || route === name || !this.#isAskedFor(peer, route, now) ? undefined : route;
  }

  /** Relays that pairs use, or would use next. */
  wanted(): Iterable<string> {
    return this.#wanted.keys();
  }

  /** Lists the probes to send: for pairs that use another relay than they agreed on, or have none, because one is not known to have the peer. */
  questions(now: number): { readonly publicKey: string; readonly name: string }[] {
    const questions: { publicKey: string; name: string }[] = [];
    for (const [publicKey, peer] of this.#peers) {
      if (peer.theirs === undefined) continue;
      for (const name of peer.order.slice(0, KEPT_FOR_PAIR)) {
        const isOpen = this.#ready.has(name) && peer.presence.get(name) !== true;
        if (isOpen && this.#isAskedFor(peer, name, now)) questions.push({ publicKey, name });
      }
    }
    return questions;
  }

  /** How many peers each relay carries packets for, should they have no direct path. */
  counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { route } of this.#peers.values()) if (route) counts.set(route, (counts.get(route) ?? 0) + 1);
    return counts;
  }

  #peer(publicKey: string): Peer {
    const known = this.#peers.get(publicKey);
    if (known) return known;
    const peer: Peer = {
      pair: pairOf(this.#ownKey, publicKey),
      theirs: undefined,
      theirsAt: Number.NEGATIVE_INFINITY,
      news: undefined,
      presence: new Map(),
      askedAt: new Map(),
      order: [],
      route: undefined,
    };
    this.#peers.set(publicKey, peer);
    this.#reorder(peer);
    return peer;
  }

  #isAskedFor({ askedAt }: Peer, name: string, now: number): boolean {
    return now - (askedAt.get(name) ?? Number.NEGATIVE_INFINITY) >= ASK_AGAIN_MS;
  }

  #reorder(peer: Peer): void {
    const agreed = peer.theirs ? relaysOfPair(peer.pair, this.#capacities, this.#costs, peer.theirs) : [];
    this.#count(peer, -1);
    peer.order = [...new Set([...agreed, ...this.#capacities.keys(), ...nearest(this.#costs)])];
    this.#count(peer, 1);
    this.#reroute(peer);
  }

  /** A peer that says what it can use counts for the first relays of its order. */
  #count({ theirs, order }: Peer, one: 1 | -1): void {
    if (theirs === undefined) return;
    for (const name of order.slice(0, KEPT_FOR_PAIR)) {
      const count = (this.#wanted.get(name) ?? 0) + one;
      if (count > 0) this.#wanted.set(name, count);
      else this.#wanted.delete(name);
    }
  }

  #reroute(peer: Peer): void {
    const ready = peer.order.filter((name) => this.#ready.has(name));
    peer.route = ready.find((name) => peer.presence.get(name) === true) ?? ready[0];
  }
}
