import { type ConnectionSignal, initiates } from '../../net/signal/exchange.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { Activity, type PeerTraffic } from './activity.ts';
import { DirectPath } from './direct-path.ts';
import { type Candidate, priorityOf } from './ice/candidate.ts';
import type { LocalNode } from './local-node.ts';
import { Negotiation } from './negotiation.ts';
import type { PairStatus } from './path-command.ts';
import { reasonOf } from './reason.ts';
import { RelayPresence } from './relay-presence.ts';
import { RelayTalk } from './relay-talk.ts';
import { HOPE_MS, REASSERT_MS, RELAYS_LATER_MS, RETRY_HOPE_MS } from './schedule.ts';
import { type SignalRoute, SignalRoutes } from './signal-routes.ts';
import type { Transport } from './status.ts';
import { statesTo } from './transitions.ts';
import { TunnelSession } from './tunnel-session.ts';

export interface PairPeer {
  readonly id: string;
  /** X25519, base64 and raw. */
  readonly publicKey: string;
  readonly key: Uint8Array;
  /** Where the tunnel sends to since the time of an earlier agent. */
  readonly held?: Endpoint;
  /** Where it was reached directly by an earlier process of this node; left out: it was never met. */
  readonly known?: readonly Endpoint[];
}

/** Which path one peer is reached by. The relay first; the direct path when both directions are proven; back when it dies. */
export class Pair {
  readonly peer: PairPeer;
  readonly #local: LocalNode;
  readonly #directPath: DirectPath;
  readonly #negotiation: Negotiation;
  readonly #presence = new RelayPresence();
  readonly #activity = new Activity();
  readonly #session: TunnelSession;
  readonly #routes: SignalRoutes;
  readonly #relayTalk = new RelayTalk();

  #transport: Transport = 'probing';
  #since: number;
  #hopeUntil: number;
  #hasLeft = false;
  /** It has answered, or used the relay, in this process: before that a tunnel that was taken over stays as it is. */
  #wasMet = false;
  /** Address of the last direct path: as long as the relay does not have the peer, packets may still arrive there. */
  #lastDirect: Endpoint | undefined;
  /** A process of the peer was proven since this one began. */
  #wasReady = false;
  /** Last command to the tunnel. */
  #asserted: Endpoint | 'relay';
  #assertedAt = Number.NEGATIVE_INFINITY;
  #hadDirect = false;
  /** Last status that followers got. */
  #shown = '';

  constructor(peer: PairPeer, local: LocalNode, now: number) {
    this.peer = peer;
    this.#local = local;
    this.#lastDirect = peer.held;
    this.#asserted = peer.held ?? 'relay';
    this.#directPath = new DirectPath(peer.publicKey, local, {
      opened: (at) => {
        this.#negotiation.opened();
        // A fresh path is watched closely even before the first look at the traffic.
        this.#activity.presume(at);
      },
      lost: (at) => this.#negotiation.lost(at),
      exhausted: (at) => this.#negotiation.exhausted(at),
      hasOtherPath: () => this.#isRelayUsable,
    });
    this.#routes = new SignalRoutes(peer.known);
    if (this.#routes.isMet) local.emit({ type: 'met', publicKey: peer.publicKey });
    const known = this.#routes.endpoints.map(({ address, port }) => {
      return { type: 'srflx' as const, address, port, priority: priorityOf('srflx', address) };
    });
    const canSignal = () => local.isBusUp || this.signalRoutes.length > 0;
    this.#negotiation = new Negotiation({ peer: peer.key, local, directPath: this.#directPath, known, canSignal }, now);
    this.#presence.relayChanged(local.relay.state === 'ready', now);
    this.#relayTalk.use(local.relayCosts, now);
    this.#session = new TunnelSession(initiates(local.ownKey, peer.key));
    this.#since = now;
    this.#hopeUntil = now + HOPE_MS;
    this.#evaluate(now);
  }

  get isActive(): boolean {
    return this.#activity.isActive;
  }

  get direct(): Candidate | undefined {
    return this.#directPath.selected;
  }

  get deadline(): number {
    if (this.#transport === 'closed') return Number.POSITIVE_INFINITY;
    return Math.min(
      this.#directPath.deadline,
      this.#negotiation.deadline,
      this.#presence.deadline,
      this.#activity.deadline,
      this.#session.deadline,
      this.#negotiation.isProven ? this.#relayTalk.deadline : Infinity,
      this.#transport === 'probing' ? this.#hopeUntil : Infinity,
    );
  }

  /** A handshake that WireGuard begins by itself would cross that of the peer. */
  get isYielding(): boolean {
    return this.#session.isYielding;
  }

  get status(): PairStatus {
    const { direct } = this;
    const { roundTripMs } = this.#directPath;
    const path = this.#transport === 'ice-ready' ? 'direct' : this.#transport === 'lrp-ready' ? 'relayed' : null;
    return {
      peerId: this.peer.id,
      transport: this.#transport,
      path,
      endpoint: direct ? { address: direct.address, port: direct.port } : path === 'relayed' ? 'relay' : null,
      reason: this.#reason,
      since: Math.round(this.#since),
      hasSession: this.#session.isProven,
      unansweredSince: this.#activity.unansweredSince,
      roundTripMs: roundTripMs === undefined ? null : Math.round(roundTripMs * 10) / 10,
    };
  }

  /** How signals for it travel beside the bus. */
  get signalRoutes(): readonly SignalRoute[] {
    return this.#routes.next(this.#local.isBusUp, this.#local.relay.state === 'ready');
  }

  busChanged(now: number): void {
    this.#negotiation.carriersChanged(now);
    if (this.#local.isBusUp) this.#hope(now);
    this.#evaluate(now);
  }

  relayChanged(now: number): void {
    const isReady = this.#local.relay.state === 'ready';
    this.#presence.relayChanged(isReady, now);
    if (isReady) this.#directPath.relayReady();
    else this.#relayGone(now);
    if (!this.#local.isBusUp) this.#negotiation.carriersChanged(now);
    if (isReady) this.#hope(now);
    this.#evaluate(now);
  }

  /** Queues relay costs for the peer. With a direct path they are of no use at once, and thousands of peers may be due. */
  relayCostsChanged(now: number): void {
    this.#relayTalk.use(this.#local.relayCosts, this.direct ? now + this.#local.fraction() * RELAYS_LATER_MS : now);
  }

  /** This host's addresses, or whether it shares the port. */
  candidatesChanged(now: number): void {
    this.#negotiation.candidatesChanged(now);
    this.#directPath.doubt(now);
    this.#evaluate(now);
  }

  /** The relay's answer to a probe. */
  relayProbed(isPresent: boolean, now: number): void {
    this.#presence.answered(isPresent, now, this.#local.fraction());
    if (!isPresent) this.#relayGone(now);
    this.#evaluate(now);
  }

  /** A packet of the peer came by the relay. Called for each of them: cheap when nothing changes. */
  relayHeard(now: number): void {
    this.#activity.heard();
    this.#meet();
    if (this.#presence.heard(now)) this.#evaluate(now);
  }

  /** A packet went to the peer by the relay. */
  relayUsed(now: number): void {
    this.#activity.asked(now);
  }

  /** The peer asks for us. While `isNewProcess` it may be a recording: nothing is given up for it. */
  synReceived(isNewProcess: boolean, now: number): void {
    this.#hope(now, RETRY_HOPE_MS);
    this.#presence.askSoon(now);
    const wasInUse = this.#negotiation.isNegotiated || this.#presence.hasCarried;
    if (this.#transport === 'lrp-ready' && wasInUse) {
      this.#local.emit({
        type: 'log',
        level: 'info',
        message: 'SYN on active LRP session',
        fields: { peer: this.peer.id },
      });
    }
    this.#negotiation.synReceived(isNewProcess, now);
    this.#evaluate(now);
  }

  /** The peer answered our SYN: each takes the other's signals now. */
  ready(isNewProcess: boolean, by: SignalRoute | 'bus', now: number): void {
    this.#hope(now);
    this.#routes.heard(by);
    this.#hasLeft = false;
    this.#meet();
    this.#presence.askSoon(now);
    if (isNewProcess) this.#restarted(now);
    else this.#relayTalk.hurry(now);
    this.#negotiation.ready(isNewProcess, now);
    this.#evaluate(now);
  }

  /** @returns why it was ignored */
  signalReceived(message: ConnectionSignal, by: SignalRoute | 'bus', now: number): string | undefined {
    this.#hope(now, RETRY_HOPE_MS);
    this.#routes.heard(by);
    const ignored = this.#take(message, now);
    this.#evaluate(now);
    return ignored;
  }

  trafficSeen(traffic: PeerTraffic, now: number): void {
    const { endpoint } = traffic;
    this.#activity.counted(traffic, now);
    this.#watch(now);
    const start = this.#session.looked(traffic, now);
    if (start) {
      this.#local.emit({ type: 'handshake', publicKey: this.peer.publicKey, isRenewal: start === 'renew' });
    }
    const { direct } = this;
    if (endpoint === null || this.#transport === 'closed') return;
    if (endpoint === 'relay') {
      if (this.#asserted !== 'relay') this.reassert(now);
    } else if (!direct || nameOf(endpoint) !== nameOf(direct)) {
      this.#directPath.hint(endpoint, now);
      if (direct) return;
      if (this.#asserted === 'relay') this.reassert(now);
      else this.#follow(endpoint);
    }
  }

  /** Without a path WireGuard knows best: there it heard the peer last. */
  #follow(endpoint: Endpoint): void {
    this.#lastDirect = endpoint;
    this.#asserted = endpoint;
  }

  /** WireGuard went back to where it last heard the peer: it is told again. */
  reassert(now: number): void {
    if (now - this.#assertedAt < REASSERT_MS) return;
    this.#assertedAt = now;
    this.#local.emit({ type: 'endpoint', publicKey: this.peer.publicKey, endpoint: this.#asserted, isNew: false });
  }

  /** Someone waits for the direct path. */
  hurry(now: number): void {
    this.#hope(now);
    this.#negotiation.hurry(now);
    this.#evaluate(now);
  }

  tick(now: number): void {
    this.#tellOfRelays(now);
    this.#directPath.tick(now);
    this.#negotiation.tick(now);
    if (this.#presence.tick(now)) this.#local.emit({ type: 'probe-relay', publicKey: this.peer.publicKey });
    if (this.#session.tick(now)) this.#local.emit({ type: 'look' });
    this.#watch(now);
    this.#evaluate(now);
  }

  /** The peer is no longer in the graph, or this node goes. */
  close(reason: string, now: number): void {
    if (this.#negotiation.isProven) this.#local.signal(this.peer.key, { kind: 'BYE', reason });
    this.#hasLeft = true;
    this.#directPath.close();
    this.#move('closed', now);
  }

  #take(message: ConnectionSignal, now: number): string | undefined {
    switch (message.kind) {
      case 'BYE':
        this.#hasLeft = true;
        this.#lastDirect = undefined;
        this.#negotiation.left(now);
        this.#presence.left(now);
        this.#session.left();
        this.#hopeUntil = now;
        return undefined;
      case 'PING':
        this.hurry(now);
        return undefined;
      case 'RELAYS':
        if (this.#relayTalk.received(message, now)) {
          this.#local.emit({ type: 'peer-costs', publicKey: this.peer.publicKey, costs: message.costs });
        }
        return undefined;
      default:
        return this.#negotiation.received(message, now);
    }
  }

  /** The tunnel of the peer is new too, unless it outlived the process. */
  #restarted(now: number): void {
    this.#presence.restarted(now);
    this.#relayTalk.restarted(now);
    // The first process that is heard of is no restart: this side's tunnel began with it.
    if (this.#wasReady) {
      this.#session.restarted(now);
      this.#local.emit({ type: 'look' });
    }
    this.#wasReady = true;
  }

  /** Nodes that never met cannot connect without the bus: the relay carries nothing for them. */
  #meet(): void {
    this.#wasMet = true;
    if (this.#routes.isMet) return;
    this.#routes.met();
    this.#local.emit({ type: 'met', publicKey: this.peer.publicKey });
    this.#remember();
  }

  #tellOfRelays(now: number): void {
    if (now < this.#relayTalk.deadline || !this.#negotiation.isProven) return;
    const later = this.#local.tellsOfRelays(now);
    if (later !== undefined) {
      this.#relayTalk.postpone(later);
      return;
    }
    const message = this.#relayTalk.say(now);
    if (message) this.#local.signal(this.peer.key, message);
  }

  /** A direct path that loses large packets is better than none. */
  #relayGone(now: number): void {
    if (!this.direct && this.#directPath.isUndersized) this.#negotiation.hurry(now);
  }

  get #isRelayUsable(): boolean {
    return this.#presence.isPresent && this.#routes.isMet;
  }

  #watch(now: number): void {
    this.#activity.tick(now);
    this.#directPath.setTraffic(this.#activity.isActive, now);
  }

  #hope(now: number, span: number = HOPE_MS): void {
    this.#hopeUntil = Math.max(this.#hopeUntil, now + span);
  }

  /** Draws the consequences: where the tunnel sends to, the state, and whether anyone has to hear of it. */
  #evaluate(now: number): void {
    if (this.#transport === 'closed') return;
    const { direct } = this;
    if (!direct && this.#hadDirect) {
      this.#presence.doubt(now);
      this.#relayTalk.hurry(now);
    }
    this.#hadDirect = direct !== undefined;
    if (direct) this.#lastDirect = { address: direct.address, port: direct.port };
    const isMet = this.#lastDirect ? this.#wasMet : this.#routes.isMet;
    const isRelayed = !direct && this.#presence.isPresent && isMet;
    const wanted = isRelayed ? 'relay' : (this.#lastDirect ?? 'relay');
    if (nameOf(wanted) !== nameOf(this.#asserted)) {
      if (direct) {
        this.#routes.opened(direct);
        this.#remember();
      }
      this.#asserted = wanted;
      this.#assertedAt = now;
      this.#local.emit({ type: 'endpoint', publicKey: this.peer.publicKey, endpoint: wanted, isNew: true });
    }
    if (direct) this.#move('ice-ready', now);
    else if (isRelayed) this.#move('lrp-ready', now);
    else this.#move(now < this.#hopeUntil ? 'probing' : 'failed', now);
  }

  #remember(): void {
    this.#local.emit({ type: 'remember', publicKey: this.peer.publicKey, endpoints: this.#routes.endpoints });
  }

  #move(transport: Transport, now: number): void {
    const states = statesTo(this.#transport, transport);
    for (const state of states) {
      this.#local.emit({
        type: 'log',
        level: 'debug',
        message: 'A path changed its state.',
        fields: { peer: this.peer.id, from: this.#transport, to: state },
      });
      this.#transport = state;
      this.#since = now;
    }
    if (states.length > 0) this.#pathChanged(now);
    const { status } = this;
    const { endpoint, reason } = status;
    const shown = `${this.#transport} ${reason.code} ${endpoint && nameOf(endpoint)}`;
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#local.emit({ type: 'changed', status });
  }

  #pathChanged(now: number): void {
    if (this.#transport !== 'ice-ready' && this.#transport !== 'lrp-ready') {
      this.#session.closed();
      return;
    }
    this.#session.opened(now);
    if (!this.#session.isYielding) this.#local.emit({ type: 'opened', publicKey: this.peer.publicKey });
  }

  get #reason(): PairStatus['reason'] {
    const { session } = this.#directPath;
    return reasonOf({
      ...this.#negotiation.view,
      direct: this.direct,
      hasLeft: this.#hasLeft,
      isUndersized: this.#directPath.isUndersized,
      isTrying: session?.isTrying === true && session.remote !== undefined,
      tried: session?.tried ?? { addresses: [], checks: 0 },
      ownCandidates: this.#local.candidates,
      canSignal: this.#local.isBusUp || this.signalRoutes.length > 0,
      relay: this.#local.relay,
      isPeerAtRelay: this.#presence.isPresent,
      icePort: this.#local.icePort,
      onlyFamily: this.#local.onlyFamily,
    });
  }
}

function nameOf(endpoint: Endpoint | 'relay'): string {
  return endpoint === 'relay' ? endpoint : `${endpoint.address} ${endpoint.port}`;
}
