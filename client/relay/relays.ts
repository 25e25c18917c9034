import type { Log } from '../../core/base/ports.ts';
import { formatRelayAddress, type RelayAddress } from '../../net/relay/address.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import type { RelayCosts } from '../../net/signal/relay-costs.ts';
import { countOf } from '../../platform/segments.ts';
import type { Lookup } from '../lookup.ts';
import { nearest } from './choice.ts';
import { type LinkDrop, RelayLink } from './link.ts';
import { roundTripTo } from './measure.ts';
import { OwnCosts } from './own-costs.ts';
import { PeerRoutes } from './peer-routes.ts';

const TICK_MS = 1_000;
/** Between two looks at sessions in use. */
const LOOK_MS = 150;
/** Between two measurements of all relays. */
const MEASURE_MS = 300_000;
/** The same where one did not answer. */
const MEASURE_AGAIN_MS = 20_000;
/** How long the first answers of a measurement wait for the others. */
const GATHER_MS = 1_000;
/** Relays that a node keeps a session with for itself: the nearest, and the one that follows. */
const KEPT_NEAREST = 2;
/** A session that nothing needs any more is kept for so long. */
const LINGER_MS = 60_000;

/** A relay of the graph. */
export interface RelayPlace {
  readonly name: string;
  readonly region: string | undefined;
  /** Beside that of other relays. */
  readonly capacity: number;
  readonly address: RelayAddress;
}

export interface RelayView {
  readonly name: string;
  readonly region: string | null;
  /** Without its credential. */
  readonly address: string;
  /** `spare`: nothing needs it now, so there is no session. */
  readonly state: 'ready' | 'connecting' | 'away' | 'spare';
  readonly reason: string | null;
  readonly roundTripMs: number | null;
  /** Peers whose packets it carries while they have no direct path. */
  readonly peers: number;
}

export interface RelaysOptions {
  readonly keyPair: KeyPair;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly lookup: Lookup;
  readonly measure?: (address: RelayAddress) => Promise<number | undefined>;
  /** Returns the identifier of a peer at relays; undefined for an unknown peer. */
  readonly relayIdOf: (publicKey: string) => bigint | undefined;
  readonly publicKeyOf: (relayId: bigint) => string | undefined;
  /** The first session is ready, or the last one is gone. */
  readonly onState: () => void;
  /** Coalesced packets by their segment. Valid until the handler returns. */
  readonly onPackets: (from: bigint, packets: Uint8Array, segment: number) => void;
  readonly onProbed: (publicKey: string, isPresent: boolean) => void;
  /** A relay says that the credential of the graph is used up. */
  readonly onExpired: () => void;
  /** Takes the relay costs for peers. Never called with one relay alone. */
  readonly onCosts: (costs: RelayCosts) => void;
}

/** The sessions with all relays that this node or one of its pairs needs, and which of them carries the packets for each peer. */
export class Relays {
  readonly #options: RelaysOptions;
  readonly #costs = new OwnCosts();
  readonly #routes: PeerRoutes;
  readonly #links = new Map<string, RelayLink>();
  /** When something needed the session last. */
  readonly #neededAt = new Map<string, number>();
  /** Counters of ended sessions. */
  readonly #past = { sent: 0, received: 0, dropped: { 'relay-away': 0, 'queue-full': 0, 'too-large': 0 } };
  #places: ReadonlyMap<string, RelayPlace> = new Map();
  #publishedCosts: RelayCosts | undefined;
  /** There are several relays, or were: peers hear of them. */
  #isTelling = false;
  #measureAt = 0;
  #isUpdateDue = false;
  #ticker: NodeJS.Timeout | undefined;
  #looker: NodeJS.Timeout | undefined;

  constructor(options: RelaysOptions) {
    this.#options = options;
    this.#routes = new PeerRoutes(Buffer.from(options.keyPair.publicKey).toString('base64'));
  }

  get state(): 'ready' | 'away' | 'none' {
    if (this.#places.size === 0) return 'none';
    return this.#readyCount() > 0 ? 'ready' : 'away';
  }

  /** Why there is no session. */
  get reason(): string | undefined {
    return this.state === 'ready' ? undefined : [...this.#links.values()].map(({ reason }) => reason).find(Boolean);
  }

  get areSeveral(): boolean {
    return this.#places.size > 1;
  }

  /** The nearest with a session; without any, that of all nodes. */
  get home(): RelayView | undefined {
    const { views } = this;
    const ready = nearest(this.#costs.costs).find((name) => this.#links.get(name)?.state === 'ready');
    return views.find(({ name }) => name === ready) ?? views[0];
  }

  get counts() {
    const { sent, received, dropped } = this.#past;
    const sum = { sent, received, dropped: { ...dropped } };
    for (const link of this.#links.values()) {
      sum.sent += link.sent.packets;
      sum.received += link.received.packets;
      for (const [why, count] of Object.entries(link.dropped)) sum.dropped[why as LinkDrop] += count;
    }
    return sum;
  }

  get views(): readonly RelayView[] {
    const counts = this.#routes.counts();
    return [...this.#places.values()].map(({ name, region, address }): RelayView => {
      const link = this.#links.get(name);
      const { credential: _secret, ...where } = address;
      const roundTripMs = this.#costs.roundTripOf(name);
      return {
        name,
        region: region ?? null,
        address: formatRelayAddress(where),
        state: link === undefined || link.state === 'none' ? 'spare' : link.state,
        reason: link?.reason ?? null,
        roundTripMs: roundTripMs === undefined ? null : Math.round(roundTripMs * 10) / 10,
        peers: counts.get(name) ?? 0,
      };
    });
  }

  /** The relays of the newest graph; nodes that know one alone know the first. */
  use(places: readonly RelayPlace[]): void {
    const now = this.#options.now();
    const before = this.#places;
    this.#places = new Map(places.map((place) => [place.name, place]));
    for (const [name, place] of before) {
      const next = this.#places.get(name);
      if (next === undefined || !isSamePlace(next.address, place.address)) this.#unlink(name);
    }
    this.#costs.use(new Set(this.#places.keys()), now);
    this.#routes.use(new Map(places.map(({ name, capacity }) => [name, capacity])));
    for (const [name, link] of this.#links) link.use(this.#places.get(name)?.address);
    clearInterval(this.#ticker);
    this.#ticker = this.areSeveral ? setInterval(() => this.#tick(), TICK_MS) : undefined;
    if (this.areSeveral && !isSameSet(before, this.#places)) this.#measureAt = now;
    this.#update();
    this.#options.onState();
  }

  keep(publicKeys: ReadonlySet<string>): void {
    this.#routes.keep(publicKeys);
  }

  peerCosts(publicKey: string, costs: RelayCosts): void {
    if (!this.#routes.peerCosts(publicKey, costs, this.#options.now()) || this.#isUpdateDue) return;
    // Draw the consequences of all messages in a turn of the event loop once.
    this.#isUpdateDue = true;
    setImmediate(() => {
      this.#isUpdateDue = false;
      if (this.#places.size > 0) this.#update();
    });
  }

  /** The relay that carries packets for a peer. */
  routeOf(publicKey: string): string | undefined {
    return this.#routes.routeOf(publicKey);
  }

  /** Coalesced packets by their segment. */
  forward(publicKey: string, relayId: bigint, packets: Uint8Array, segment: number): void {
    const link = this.#links.get(this.#routes.routeOf(publicKey) ?? '');
    if (link) link.forward(relayId, packets, segment);
    else this.#past.dropped['relay-away'] += countOf(packets, segment);
  }

  flush(): void {
    for (const link of this.#links.values()) link.flush();
  }

  /** Asks all relays whether the peer is there. */
  probe(publicKey: string): void {
    for (const [name, link] of this.#links) if (link.state === 'ready') this.#ask(publicKey, name, link);
  }

  /** Something speaks against the sessions: they are dead unless they answer soon. */
  suspect(): void {
    for (const link of this.#links.values()) link.suspect();
  }

  networkChanged(addresses: ReadonlySet<string>): void {
    for (const link of this.#links.values()) link.networkChanged(addresses);
    this.#measureAt = this.#options.now();
    this.#update();
  }

  close(): void {
    this.#places = new Map();
    clearInterval(this.#ticker);
    clearTimeout(this.#looker);
    for (const link of this.#links.values()) link.close();
  }

  #readyCount(): number {
    let count = 0;
    for (const link of this.#links.values()) if (link.state === 'ready') count += 1;
    return count;
  }

  /** Draws the consequences of whatever is known now. */
  #update(): void {
    const now = this.#options.now();
    this.#costs.tick(now);
    const { costs } = this.#costs;
    if (costs !== this.#publishedCosts) {
      this.#publishedCosts = costs;
      this.#routes.useCosts(costs);
      this.#isTelling ||= this.areSeveral;
      if (this.#isTelling) this.#options.onCosts(costs);
    }
    for (const name of this.#needed()) {
      this.#neededAt.set(name, now);
      this.#link(name);
    }
    for (const name of this.#links.keys()) {
      if (now - (this.#neededAt.get(name) ?? now) >= LINGER_MS) this.#unlink(name);
    }
    if (this.areSeveral && now >= this.#measureAt) this.#measureAll(now);
  }

  /** Also that of all nodes, where those meet who know nothing of each other. */
  #needed(): Set<string> {
    const names = [...this.#places.keys()];
    const tripOf = (name: string) => this.#costs.roundTripOf(name) ?? Number.POSITIVE_INFINITY;
    const byTrip = names
      .filter((name) => tripOf(name) < Number.POSITIVE_INFINITY)
      .sort((a, b) => tripOf(a) - tripOf(b));
    const needed = [
      ...names.slice(0, 1),
      ...byTrip.slice(0, KEPT_NEAREST),
      ...nearest(this.#costs.costs).slice(0, KEPT_NEAREST),
      ...this.#routes.wanted(),
      ...names.filter((name) => this.#costs.isDown(name)),
    ];
    return new Set(needed.filter((name) => this.#places.has(name)));
  }

  #link(name: string): void {
    const place = this.#places.get(name);
    if (this.#links.has(name) || place === undefined) return;
    const { keyPair, now, random, log, lookup, onExpired, onPackets } = this.#options;
    const link: RelayLink = new RelayLink({
      keyPair,
      now,
      random,
      log,
      lookup,
      isPeer: (id) => this.#options.publicKeyOf(id) !== undefined,
      isBacked: () => this.#readyCount() > (link.state === 'ready' ? 1 : 0),
      onUse: () => {
        if (this.areSeveral) this.#looker ??= setTimeout(() => this.#look(), LOOK_MS);
      },
      onReady: () => this.#linkChanged(name, link),
      onAway: () => this.#linkChanged(name, link),
      onExpired,
      onPackets: (from, packets, segment) => {
        if (this.areSeveral) this.#heard(name, from);
        onPackets(from, packets, segment);
      },
      onProbed: (from, isPresent) => {
        const publicKey = this.#options.publicKeyOf(from);
        if (publicKey !== undefined) this.#answered(publicKey, name, isPresent);
      },
    });
    this.#links.set(name, link);
    link.use(place.address);
  }

  #unlink(name: string): void {
    const link = this.#links.get(name);
    if (link === undefined) return;
    this.#links.delete(name);
    this.#neededAt.delete(name);
    this.#routes.setReady(name, false);
    link.close();
    this.#past.sent += link.sent.packets;
    this.#past.received += link.received.packets;
    for (const [why, count] of Object.entries(link.dropped)) this.#past.dropped[why as LinkDrop] += count;
  }

  #linkChanged(name: string, link: RelayLink): void {
    if (this.#links.get(name) !== link) return;
    const isReady = link.state === 'ready';
    const now = this.#options.now();
    if (isReady) this.#costs.up(name, now);
    else this.#costs.down(name, now);
    this.#routes.setReady(name, isReady);
    const others = this.#readyCount() - (isReady ? 1 : 0);
    this.#options.onState();
    // With the first session all peers are asked for anyway.
    if (others > 0)
      for (const publicKey of this.#routes.publicKeys) this.#askAfterChange(publicKey, isReady ? name : undefined);
    this.#update();
  }

  /** A new session is asked for all; after one that ended, those that are left are. */
  #askAfterChange(publicKey: string, newcomer: string | undefined): void {
    const link = newcomer === undefined ? undefined : this.#links.get(newcomer);
    if (newcomer !== undefined && link) this.#ask(publicKey, newcomer, link);
    else this.probe(publicKey);
  }

  #ask(publicKey: string, name: string, link: RelayLink): void {
    const relayId = this.#options.relayIdOf(publicKey);
    if (relayId === undefined) return;
    this.#routes.asked(publicKey, name, this.#options.now());
    link.probe(relayId);
  }

  #answered(publicKey: string, name: string, isPresent: boolean): void {
    const isAnywhere = this.#routes.answered(publicKey, name, isPresent);
    if (isAnywhere !== undefined) this.#options.onProbed(publicKey, isAnywhere);
  }

  #heard(name: string, from: bigint): void {
    const publicKey = this.#options.publicKeyOf(from);
    if (publicKey === undefined) return;
    const doubtful = this.#routes.heard(publicKey, name, this.#options.now());
    const link = doubtful === undefined ? undefined : this.#links.get(doubtful);
    if (doubtful !== undefined && link) this.#ask(publicKey, doubtful, link);
  }

  #tick(): void {
    const now = this.#options.now();
    this.#routes.tick(now);
    for (const { publicKey, name } of this.#routes.questions(now)) {
      const link = this.#links.get(name);
      if (link) this.#ask(publicKey, name, link);
    }
    this.#update();
  }

  #look(): void {
    this.#looker = undefined;
    let isAgain = false;
    for (const link of [...this.#links.values()]) if (link.look()) isAgain = true;
    if (isAgain) this.#looker = setTimeout(() => this.#look(), LOOK_MS);
  }

  /** Uses all measurements at once, so that no choice rests on the first answer alone; a late answer counts later. */
  #measureAll(now: number): void {
    const { lookup, measure = (address) => roundTripTo(address, lookup), random } = this.#options;
    this.#measureAt = now + MEASURE_MS * (1 + random() / 4);
    const gathered = new Map<RelayPlace, number | undefined>();
    let isLate = false;
    const measuring = [...this.#places.values()].map(async (place) => {
      const roundTripMs = await measure(place.address);
      gathered.set(place, roundTripMs);
      if (isLate) this.#measured(gathered);
    });
    const gather = () => {
      if (isLate) return;
      isLate = true;
      this.#measured(gathered);
    };
    setTimeout(gather, GATHER_MS).unref();
    void Promise.all(measuring).then(gather);
  }

  #measured(results: Map<RelayPlace, number | undefined>): void {
    const now = this.#options.now();
    for (const [{ name, address }, roundTripMs] of results) {
      const place = this.#places.get(name);
      if (place === undefined || !isSamePlace(place.address, address)) continue;
      if (roundTripMs === undefined) this.#measureAt = Math.min(this.#measureAt, now + MEASURE_AGAIN_MS);
      this.#costs.measured(name, roundTripMs, this.#links.has(name), now);
    }
    results.clear();
    if (this.#places.size > 0) this.#update();
  }
}

function isSamePlace(a: RelayAddress, b: RelayAddress): boolean {
  return a.host === b.host && a.port === b.port && a.secure === b.secure;
}

function isSameSet(a: ReadonlyMap<string, RelayPlace>, b: ReadonlyMap<string, RelayPlace>): boolean {
  return (
    a.size === b.size &&
    [...a].every(([name, { address }]) => {
      const other = b.get(name)?.address;
      return other !== undefined && isSamePlace(address, other);
    })
  );
}
