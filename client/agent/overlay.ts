import type { Clock, Log } from '../../core/base/ports.ts';
import type { FullGraph, GraphPeer, GraphSelf } from '../../core/model/graph.ts';
import type { RelayAddress } from '../../net/relay/address.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import type { Firewall } from '../firewall/firewall.ts';
import type { HostRules } from '../firewall/host/host-rules.ts';
import type { Lookup } from '../lookup.ts';
import type { Connectivity, ConnectivityOptions } from '../paths/connectivity.ts';
import type { PathStatus } from '../paths/status.ts';
import { type Place, placesOf } from '../places.ts';
import {
  judgeRoute,
  type RouteFacts,
  type RouteRefusal,
  type RouteVerdict,
  refusalText,
} from '../routes/judge-route.ts';
import { TUNNEL_MTU } from '../tunnel/mtu.ts';
import type { Endpoint, Tunnel, TunnelOptions, TunnelPeer, TunnelPlatform } from '../tunnel/tunnel.ts';
import { FirewallKeeper } from './firewall-keeper.ts';
import { HostFirewall } from './host-firewall.ts';
import { inForce } from './in-force.ts';
import { inheritedPeersOf } from './inherited-peers.ts';
import type { KnownPeers } from './known-peers.ts';
import type { HostFirewallStatus } from './node-status.ts';

/** The parts that an overlay is made of; tests put others in their place. */
export interface OverlayParts {
  readonly platform: TunnelPlatform;
  /** The tunnel ends in this process: no block can take anything away from the host. */
  readonly routesNothing?: boolean;
  openFirewall(interfaceName: string): Promise<Firewall>;
  hostRules(interfaceName: string): HostRules;
  startConnectivity(options: ConnectivityOptions): Promise<Connectivity>;
  /** Removes everything that an earlier agent of this node left on the host. Idempotent. */
  removeLeft(publicKey: string): Promise<void>;
}

export interface OverlayOptions {
  readonly parts: OverlayParts;
  readonly interfaceName: string;
  readonly listenPort: number;
  /** Where the interface and its firewall are; nothing else is in there. */
  readonly workspaceId: string;
  readonly relayOverride?: RelayAddress;
  /** Rules of the host are to let the overlay in. */
  readonly opensHost: boolean;
  /** Facts for the judgment of a graph's block, beside the routes of this host. */
  routeFacts(graph: FullGraph): Promise<Omit<RouteFacts, 'translated' | 'collisions' | 'isAlone'>>;
  readonly known: Pick<KnownPeers, 'all' | 'remember' | 'keep'>;
  readonly lookup: Lookup;
  readonly clock: Clock;
  readonly log: Log;
  publish(subject: string, sealed: Uint8Array): void;
  /** Up for the first time, or again. */
  onUp(tunnel: Tunnel): void;
  /** It is tried again; the error is for people. */
  onTrouble(error: Error): void;
  /** The time of this node is over, by the clock of this host. Said again, ever more rarely, as long as that is so. */
  onExpired(): void;
  /** A relay says that the credential of the graph is used up. */
  onCredentialExpired(): void;
  onPath(status: PathStatus): void;
  /** The graph that is in force from now on; undefined once none is. */
  onInForce?(graph: FullGraph | undefined): void;
}

/** This node does not route the block of its network: its overlay is down, and nothing of the host was changed. */
export class RouteRefused extends Error {
  override readonly name = 'RouteRefused';
  readonly refusal: RouteRefusal;

  constructor(refusal: RouteRefusal) {
    super(refusalText(refusal));
    this.refusal = refusal;
  }
}

/** Consent checks and the session with the relay keep the paths open; WireGuard itself stays silent while idle. */
const NO_KEEPALIVE = 0;
const FIRST_RETRY_MS = 1_000;
/** After the interface was lost: it is made anew, and should that fail too, the waits are the usual ones. */
const LOST_RETRY_MS = 100;
const LAST_RETRY_MS = 30_000;
/** A node whose time is over asks whether it is: at once, after so long, and then after twice as long each time. */
const OVER_ASK_MS = 5_000;
/** Ends are looked at again after so long at most, in case the clock was set. */
const LONGEST_TIMER_MS = 60_000;

interface Open {
  readonly tunnel: Tunnel;
  readonly firewall: Firewall;
  paths: Connectivity;
  graph: FullGraph;
  /** Peers of the tunnel, by public key. */
  readonly peers: Map<string, GraphPeer>;
  /** Own addresses, digest and size of the rules in force. */
  rules: string;
  readonly firewallKeeper: FirewallKeeper;
  readonly hostFirewall: HostFirewall;
  /** Its interface is gone: it is taken away and made again. */
  isLost: boolean;
}

/** Parts of an overlay that may not have come up whole. */
type Parts = Pick<Open, 'tunnel'> & {
  readonly [Name in 'firewall' | 'paths' | 'firewallKeeper' | 'hostFirewall']?: Open[Name] | undefined;
};

/** Brings tunnel, firewall and paths to the graph that is wanted, one step after the other, and again after a failure. */
export class Overlay {
  readonly #options: OverlayOptions;
  #opensHost: boolean;
  #keyPair: KeyPair;
  #wanted: FullGraph | undefined;
  #open: Open | undefined;
  #isBusUp = false;
  #isDirty = false;
  #isRekeyed = false;
  #isToJudge = false;
  #route: RouteVerdict = {};
  /** The blocks that this process routed last: one in use is not taken away for what appears on the host later. */
  #routedBlocks: readonly string[] = [];
  /** True once leftovers of an earlier agent are removed or taken over. */
  #isLeftRemoved = false;
  #isClean = true;
  #isClosed = false;
  readonly #ending = new AbortController();
  #working: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #retryMs = FIRST_RETRY_MS;
  /** Runs while the time of this node is over. */
  #overTimer: NodeJS.Timeout | undefined;
  #overMs = OVER_ASK_MS;

  constructor(options: OverlayOptions, keyPair: KeyPair) {
    this.#options = options;
    this.#opensHost = options.opensHost;
    this.#keyPair = keyPair;
  }

  /** The overlay that is up now; its graph is the one in force. */
  get up(): Pick<Open, 'tunnel' | 'paths' | 'graph' | 'firewallKeeper' | 'hostFirewall'> | undefined {
    return this.#open;
  }

  /** False where something of this node stays on the host, because it could not be removed. */
  get isClean(): boolean {
    return this.#isClean;
  }

  /** How the block of the newest graph was judged. */
  get route(): RouteVerdict {
    return this.#route;
  }

  /** Judges the block of the graph again, because what the judgement goes by has changed. */
  judgeAgain(): void {
    this.#isToJudge = true;
    this.#work();
  }

  /** The graph to be in force from now on; undefined takes the overlay down. */
  want(graph: FullGraph | undefined): void {
    this.#wanted = graph;
    this.#work();
  }

  /** Another key of this node. */
  rekey(keyPair: KeyPair): void {
    this.#keyPair = keyPair;
    this.#isRekeyed = true;
    this.#work();
  }

  busState(isUp: boolean): void {
    this.#isBusUp = isUp;
    this.#open?.paths.busState(isUp ? 'up' : 'down');
  }

  receiveSignal(subject: string, sealed: Uint8Array): void {
    this.#open?.paths.receiveSignal(subject, sealed);
  }

  /** This host has another network, which may be in the block. */
  networkChanged(): void {
    this.#open?.paths.networkChanged();
    // An overlay that does not come up changes the network itself, on a Mac: it is tried again in its own time.
    if (this.#open || 'refusal' in this.#route) this.judgeAgain();
  }

  /** Rules of the host are to let the overlay in from now on. @returns how they are then; undefined while it is down */
  async openHost(): Promise<HostFirewallStatus | undefined> {
    this.#opensHost = true;
    return this.#open?.hostFirewall.open();
  }

  /** Resolves when what was wanted last is in force, or has failed once. */
  async settled(): Promise<void> {
    await this.#working;
  }

  /** Takes everything away. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#working;
    this.#notOver();
    await this.#takeDown();
  }

  #work(): void {
    this.#isDirty = true;
    if (this.#isClosed) return;
    this.#working ??= this.#run().finally(() => {
      this.#working = undefined;
    });
  }

  async #run(): Promise<void> {
    while (this.#isDirty && !this.#isClosed) {
      this.#isDirty = false;
      clearTimeout(this.#timer);
      try {
        await this.#bringTo(this.#wanted);
        this.#retryMs = FIRST_RETRY_MS;
      } catch (error) {
        this.#options.onTrouble(error as Error);
        this.#again(this.#retryMs * (0.5 + Math.random()));
        this.#retryMs = Math.min(this.#retryMs * 2, LAST_RETRY_MS);
      }
    }
  }

  #again(ms: number): void {
    clearTimeout(this.#timer);
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#work(), ms);
  }

  async #bringTo(wanted: FullGraph | undefined): Promise<void> {
    if (wanted === undefined || this.#open?.isLost) await this.#takeDown();
    if (wanted === undefined) {
      this.#route = {};
      return this.#notOver();
    }
    const now = this.#options.clock.now();
    const { graph, until } = inForce(wanted, now);
    if (graph === undefined) {
      await this.#takeDown();
      return this.#over();
    }
    this.#notOver();
    if (until !== undefined) this.#again(Math.min(until - now, LONGEST_TIMER_MS));
    if (this.#isRekeyed && this.#open) await this.#useKey(this.#open, graph);
    this.#isRekeyed = false;
    if (this.#open) await this.#change(this.#open, graph, now);
    else await this.#bringUp(graph, now);
  }

  /** A clock may be wrong: what this one says denies, and ends nothing for good. */
  #over(): void {
    if (this.#overTimer !== undefined || this.#isClosed) return;
    this.#overTimer = setTimeout(() => {
      this.#overTimer = undefined;
      this.#work();
    }, this.#overMs);
    this.#overMs = Math.min(this.#overMs * 2, LONGEST_TIMER_MS);
    this.#options.onExpired();
  }

  #notOver(): void {
    clearTimeout(this.#overTimer);
    this.#overTimer = undefined;
    this.#overMs = OVER_ASK_MS;
  }

  async #bringUp(wanted: FullGraph, now: number): Promise<void> {
    const { parts, interfaceName, listenPort, log } = this.#options;
    await this.#requireRoute(wanted).catch(async (error: unknown) => {
      if (error instanceof RouteRefused) await this.#removeLeft();
      throw error;
    });
    const graph = this.#asRouted(wanted);
    const { address, cidr } = graph.self;
    const { privateKey } = this.#keyPair;
    const where = {
      interfaceName,
      listenPort,
      ending: this.#ending.signal,
    };
    const tunnel = await this.#openTunnel({ ...where, privateKey, address, cidr, mtu: TUNNEL_MTU, log });
    const held = inheritedPeersOf(tunnel, graph);
    let firewall: Firewall | undefined;
    let paths: Connectivity | undefined;
    try {
      firewall = await parts.openFirewall(interfaceName);
      await firewall.apply(graph.self, graph.firewall.full, now);
      paths = await this.#startPaths(tunnel, graph, held.directs);
      const onRestored = () => {
        this.#open?.paths.restoreRules();
        void this.#open?.hostFirewall.look();
      };
      const onHostChanged = () => this.#open?.hostFirewall.changed();
      const rules = parts.hostRules(interfaceName);
      const open: Open = {
        tunnel,
        firewall,
        paths,
        graph,
        peers: held.peers,
        rules: rulesOf(graph),
        firewallKeeper: new FirewallKeeper({ firewall, interfaceName, log, onRestored, onHostChanged }),
        hostFirewall: new HostFirewall({ rules, interfaceName, cidr, isToOpen: this.#opensHost, log }),
        isLost: false,
      };
      this.#open = open;
      this.#isLeftRemoved = true;
      this.#isClean = true;
      void tunnel.ended.then((reason) => this.#lost(open, reason));
    } catch (error) {
      await this.#takeAway({ tunnel, firewall, paths });
      throw error;
    }
    await this.#change(this.#open, graph, now);
    this.#options.onUp(tunnel);
  }

  async #openTunnel(options: TunnelOptions): Promise<Tunnel> {
    const { platform } = this.#options.parts;
    const left = await platform.takeOver(options);
    if (left) {
      this.#options.log.info({}, `${options.interfaceName} is taken over from an earlier agent, with its sessions`);
      return left;
    }
    await platform.recover(options.interfaceName);
    return platform.open(options);
  }

  async #startPaths(
    tunnel: Tunnel,
    graph: FullGraph,
    held: ReadonlyMap<string, Endpoint> = new Map(),
  ): Promise<Connectivity> {
    const { parts, workspaceId, relayOverride, known, lookup, log, publish, onPath, onCredentialExpired } =
      this.#options;
    const paths = await parts.startConnectivity({
      keyPair: this.#keyPair,
      workspaceId,
      graph,
      tunnel,
      ...(relayOverride && { relayOverride }),
      publish,
      known: known.all,
      remember: (publicKey, endpoints) => known.remember(publicKey, endpoints),
      onCredentialExpired,
      lookup,
      log,
      held,
    });
    paths.onChange(onPath);
    paths.busState(this.#isBusUp ? 'up' : 'down');
    return paths;
  }

  /**
   * The one place where this node decides what it routes.
   *
   * @throws RouteRefused for the block of its network; it does without a block before a renumbering that it does not route
   */
  async #requireRoute(graph: FullGraph): Promise<void> {
    const { cidr, former } = graph.self;
    this.#isToJudge = false;
    this.#route = await this.#judge(cidr, graph);
    if ('refusal' in this.#route) throw new RouteRefused(this.#route.refusal);
    const isCarried = former !== undefined && !('refusal' in (await this.#judge(former.cidr, graph)));
    this.#routedBlocks = [cidr, ...(isCarried ? [former.cidr] : [])];
  }

  /** A graph without a block before a renumbering that this node does not route. */
  #asRouted(graph: FullGraph): FullGraph {
    const { former, ...self } = graph.self;
    return former === undefined || this.#routedBlocks.includes(former.cidr) ? graph : { ...graph, self };
  }

  async #judge(cidr: string, graph: FullGraph): Promise<RouteVerdict> {
    const { parts, interfaceName, routeFacts } = this.#options;
    const isAlone = parts.routesNothing === true;
    const collisions = isAlone ? [] : await parts.platform.collisions(cidr, interfaceName);
    const isInUse = this.#routedBlocks.includes(cidr);
    const translated = isAlone || isInUse ? [] : await parts.hostRules(interfaceName).translations(cidr, 'at start');
    return judgeRoute(cidr, { ...(await routeFacts(graph)), translated, collisions, isAlone });
  }

  /** Removes former peers from the tunnel before the firewall forgets them, and adds new ones after it. */
  async #change(open: Open, wanted: FullGraph, now: number): Promise<void> {
    const { tunnel, firewall, peers } = open;
    const isRouted = ({ cidr }: Place) => placesOf(open.graph.self).some((place) => place.cidr === cidr);
    if (this.#isToJudge || !placesOf(wanted.self).every(isRouted)) {
      // The graph before is not wanted any more, and this one would take away what this host uses.
      await this.#requireRoute(wanted).catch(async (error: unknown) => {
        // A block that is in use stays so while nobody can tell.
        if (!isRouted(wanted.self) || error instanceof RouteRefused) await this.#takeDown();
        else this.#isToJudge = true;
        throw error;
      });
    }
    const graph = this.#asRouted(wanted);
    // Paths to endpoints inside a new block would lead into the tunnel itself.
    if (!placesOf(graph.self).every(isRouted)) await this.#startPathsAgain(open, graph);
    const { paths } = open;
    const keys = new Set(graph.peers.map(({ publicKey }) => publicKey));
    const narrowed = await narrow(open, graph.self, keys).catch((error: unknown) => ({ error }));
    if (rulesOf(graph) !== open.rules) {
      // Whatever becomes of these: those before are not wanted any more.
      open.rules = '';
      await firewall.apply(graph.self, graph.firewall.full, now);
      open.rules = rulesOf(graph);
    }
    // Rules keep out whom a tunnel that refuses changes still has.
    if (narrowed) throw narrowed.error;
    const endpoints = await paths.admit(graph);
    const changed = graph.peers.filter(
      (peer) => String(peers.get(peer.publicKey)?.allowedIps) !== String(peer.allowedIps),
    );
    const put = changed.map(({ publicKey, allowedIps }): TunnelPeer => {
      const endpoint = peers.has(publicKey) ? undefined : endpoints.get(publicKey);
      return { publicKey, allowedIps, keepalive: NO_KEEPALIVE, ...(endpoint && { endpoint }) };
    });
    if (put.length > 0) await tunnel.change(put, []);
    for (const peer of changed) peers.set(peer.publicKey, peer);
    open.graph = graph;
    open.hostFirewall.use(graph.self.cidr);
    this.#options.known.keep(keys);
    paths.updateGraph(graph);
    this.#options.onInForce?.(graph);
  }

  async #useKey(open: Open, graph: FullGraph): Promise<void> {
    await this.#startPathsAgain(open, graph, () => open.tunnel.setPrivateKey(this.#keyPair.privateKey));
  }

  async #startPathsAgain(open: Open, graph: FullGraph, between?: () => Promise<void>): Promise<void> {
    await open.paths.close();
    await between?.();
    open.paths = await this.#startPaths(open.tunnel, graph);
    // Every peer gets its endpoint from the new paths.
    const held = [...open.peers.keys()];
    if (held.length > 0) await open.tunnel.change([], held);
    open.peers.clear();
  }

  #lost(open: Open, reason: string): void {
    if (this.#open !== open || this.#isClosed) return;
    open.isLost = true;
    void open.firewallKeeper.stop();
    this.#options.onTrouble(new Error(`the interface ${this.#options.interfaceName} is gone: ${reason}`));
    this.#again(LOST_RETRY_MS);
  }

  async #takeDown(): Promise<void> {
    const open = this.#open;
    if (!open) return this.#removeLeft();
    this.#open = undefined;
    this.#options.onInForce?.(undefined);
    await this.#takeAway(open);
  }

  /** An overlay that does not come up leaves nothing of an earlier agent: nobody would keep it as the network is now. */
  async #removeLeft(): Promise<void> {
    if (this.#isLeftRemoved) return;
    try {
      await this.#options.parts.removeLeft(Buffer.from(this.#keyPair.publicKey).toString('base64'));
      this.#isLeftRemoved = true;
      this.#isClean = true;
    } catch (error) {
      this.#isClean = false;
      this.#options.log.error({ error: String(error) }, 'what an earlier agent left was not removed');
    }
  }

  /** Whatever there is of it: the tunnel before its firewall, for packets that come meanwhile. */
  async #takeAway({ firewallKeeper, hostFirewall, paths, tunnel, firewall }: Parts): Promise<void> {
    const closing = [
      async () => firewallKeeper?.stop(),
      async () => hostFirewall?.close(),
      async () => paths?.close(),
      () => tunnel.close(),
      async () => firewall?.close(),
    ];
    for (const close of closing) {
      await close().catch((error: unknown) => {
        this.#isClean = false;
        this.#options.log.error({ error: String(error) }, 'a part of the overlay was not taken away');
      });
    }
  }
}

/** The addresses of this node, and no peer that it no longer knows. */
async function narrow({ tunnel, peers }: Open, self: GraphSelf, wanted: ReadonlySet<string>): Promise<undefined> {
  await tunnel.setPlaces(placesOf(self));
  const removed = [...peers.keys()].filter((key) => !wanted.has(key));
  if (removed.length > 0) await tunnel.change([], removed);
  for (const key of removed) peers.delete(key);
}

function rulesOf({ self, firewall: { digest, full } }: FullGraph): string {
  const own = placesOf(self).map(({ address, cidr }) => `${address} ${cidr}`);
  return `${own} ${digest} ${full.in.length} ${full.out.length}`;
}
