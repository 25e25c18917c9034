import type { Clock, Log } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { normalizeName } from '../../core/model/resources.ts';
import type { RelayAddress } from '../../net/relay/address.ts';
import { type KeyPair, keyPairOf } from '../../net/seal/x25519.ts';
import { ControlLink } from '../control/control-link.ts';
import { GraphFile } from '../control/graph-file.ts';
import { LogFile } from '../control/log-file.ts';
import { KEY_SHARED, type Standing } from '../control/standing.ts';
import { type NodeConfig, writeNodeConfig } from '../enrol/node-config.ts';
import type { NameService } from '../names/name-service.ts';
import type { PathStatus } from '../paths/status.ts';
import { type RouteFacts, refusalText } from '../routes/judge-route.ts';
import { RouteGuard } from '../routes/route-guard.ts';
import { usedAddresses } from '../routes/used-addresses.ts';
import type { NetworkWatch } from '../tunnel/network-watch.ts';
import { HandshakeWatch } from './handshake-watch.ts';
import { ageOfKey } from './key-age.ts';
import { KnownAddresses } from './known-addresses.ts';
import { KnownPeers } from './known-peers.ts';
import type { HostFirewallStatus, NodeStatus } from './node-status.ts';
import { Overlay, type OverlayParts, RouteRefused } from './overlay.ts';
import { PathReports } from './path-reports.ts';
import { logReport, NO_OVERLAY, overlayReport } from './report.ts';

const OVER =
  'by the clock of this host the time of this node is over: its tunnels are down until the control plane says so too';

/** How often the age of the key is looked at. */
const KEY_LOOK_MS = 3_600_000;

export interface AgentOptions {
  /** Where it keeps its state; left out: in memory, gone with the agent. */
  readonly directory?: string | undefined;
  readonly config: NodeConfig;
  /** The name that it was started with, where it keeps another one for now, and why. */
  readonly newName?: { readonly name: string; readonly detail: string };
  readonly version: string;
  readonly interfaceName: string;
  readonly listenPort: number;
  readonly busWaitMs: number;
  readonly busInClear: boolean;
  readonly relayOverride?: RelayAddress;
  /** Rules of the host are to let the overlay in. */
  readonly opensHost: boolean;
  readonly parts: OverlayParts;
  /** Left out: names of peers resolve nowhere. */
  readonly names?: NameService;
  /** Told of the graph that is in force from now on; undefined once none is. */
  onInForce?(graph: FullGraph | undefined): void;
  /** The proxy of a node in userspace mode. */
  readonly proxy?: AgentProxy;
  /** A key that is older is changed, ms; left out: only when someone asks. */
  readonly keyAgeMs?: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Details of WireGuard and ICE, on request. */
  readonly systemLog?: Log;
}

/** A proxy into the overlay, as far as the agent needs it. */
export interface AgentProxy {
  readonly status: NodeStatus['proxy'];
  /** The graph that is in force from now on; undefined once none is. */
  use(graph: FullGraph | undefined): void;
  close(): Promise<void>;
}

export interface AgentEnd {
  /** `asked`: by a person or a signal. `removed`: the control plane knows this node no more. */
  readonly why: 'asked' | 'removed';
  readonly detail: string;
}

/** How far a start came. */
export type Started =
  | { readonly state: 'up'; readonly address: string; readonly hostFirewall?: HostFirewallStatus }
  | { readonly state: 'pending' | 'revoked' | 'removed' | 'away' | 'refused'; readonly detail: string };

/** A running node: control, tunnel, firewall and paths put together. */
export class Agent {
  /** Resolves once; the caller then stops the agent. */
  readonly ended: Promise<AgentEnd>;
  /** Resolves when the overlay is up for the first time. */
  readonly up: Promise<void>;
  readonly #options: AgentOptions;
  readonly #control: ControlLink;
  readonly #overlay: Overlay;
  readonly #knownPeers: KnownPeers;
  readonly #startedAt: number;
  readonly #reports = new PathReports();
  readonly #watch: HandshakeWatch | undefined;
  readonly #network: NetworkWatch;
  readonly #guard: RouteGuard;
  #config: NodeConfig;
  #keyPair: KeyPair;
  #trouble = '';
  #end: (end: AgentEnd) => void = () => {};
  #cameUp: () => void = () => {};
  #failStart: (error: Error) => void = () => {};
  #isStarted = false;
  #stopping: Promise<void> | undefined;
  #keyTimer: NodeJS.Timeout | undefined;

  constructor(options: AgentOptions) {
    const { config, directory, clock, log } = options;
    this.#options = options;
    this.#config = config;
    this.#startedAt = clock.now();
    this.#keyPair = keyPairOf(Buffer.from(config.privateKey, 'base64'));
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.up = new Promise((resolve) => {
      this.#cameUp = resolve;
    });
    const addresses = new KnownAddresses(directory, log);
    this.#control = new ControlLink({
      config,
      addresses,
      file: new GraphFile(directory, config.id),
      logFile: new LogFile(directory),
      version: options.version,
      busWaitMs: options.busWaitMs,
      busInClear: options.busInClear,
      clock,
      log,
      saveConfig: (next) => {
        if (directory !== undefined) writeNodeConfig(directory, next);
        this.#config = next;
      },
      onKey: (pair) => {
        this.#keyPair = pair;
        this.#overlay.rekey(pair);
      },
      onGraph: (graph) => this.#useGraph(graph),
      onStanding: (standing, detail) => this.#stand(standing, detail),
      onSignal: ({ subject, data }) => this.#overlay.receiveSignal(subject, data),
      onBus: (isUp) => this.#overlay.busState(isUp),
      report: (all) => {
        const { paths, taken } = this.#reports.next(this.#overlay.up?.paths.statuses() ?? [], all);
        return { content: paths.length > 0 ? { paths } : {}, taken };
      },
    });
    this.#knownPeers = new KnownPeers(directory, log);
    this.#overlay = new Overlay(
      {
        parts: options.parts,
        interfaceName: options.interfaceName,
        listenPort: options.listenPort,
        workspaceId: config.workspaceId,
        ...(options.relayOverride && { relayOverride: options.relayOverride }),
        opensHost: options.opensHost,
        routeFacts: (graph) => this.#routeFacts(graph),
        known: this.#knownPeers,
        lookup: addresses.lookup,
        clock,
        log: options.systemLog ? { ...log, debug: options.systemLog.debug } : log,
        publish: (subject, sealed) => this.#control.publish(subject, sealed),
        onUp: (tunnel) => {
          this.#trouble = '';
          this.#cameUp();
          log.info({}, `${tunnel.interfaceName} is up on UDP port ${tunnel.listenPort} (${tunnel.kind})`);
        },
        onTrouble: (error) => this.#overlayTrouble(error),
        onExpired: () => this.#expired(),
        onCredentialExpired: () => this.#control.check('a relay takes the credential of this node for used up'),
        onPath: (status) => this.#tellPath(status),
        onInForce: (graph) => {
          options.names?.use(graph);
          options.proxy?.use(graph);
          options.onInForce?.(graph);
          if (!options.parts.routesNothing) this.#guard.routed(graph?.self.cidr);
        },
      },
      this.#keyPair,
    );
    this.#guard = new RouteGuard({
      reaches: (block) => this.#control.reaches(block),
      withdraw: (block) => this.#withdraw(block),
      restore: () => this.#withdraw(undefined),
      keep: (block) => this.#control.keepBlocks({ probationBlock: block }),
      log,
    });
    this.#network = options.parts.platform.watchNetwork(options.interfaceName, log, () => {
      log.debug({}, 'the network of this host changed');
      this.#control.networkChanged();
      this.#overlay.networkChanged();
    });
    this.#watch = options.systemLog && new HandshakeWatch(this.#overlay, options.systemLog);
  }

  /**
   * Brings the node up, from the graph on disk where there is one. Resolves when it is clear how far it came; the agent
   * goes on from there by itself.
   *
   * @throws Error when the overlay cannot come up on this host: nothing is left behind
   */
  async start(): Promise<Started> {
    const failed = new Promise<never>((_, reject) => {
      this.#failStart = reject;
    });
    const kept = this.#control.graph;
    if (kept) {
      this.#options.log.info({ version: kept.version }, 'coming up from the graph that was kept on disk');
      const { probationBlock, withdrawnBlock } = this.#config;
      if (withdrawnBlock === kept.self.cidr) this.#guard.withdrawn(withdrawnBlock);
      else if (probationBlock === kept.self.cidr) this.#guard.doubt(probationBlock);
      this.#overlay.want(kept);
    }
    const asked = this.#control.start();
    try {
      await Promise.race([failed, kept ? this.#overlay.settled() : asked.then(() => this.#overlay.settled())]);
    } finally {
      this.#isStarted = true;
    }
    if (this.#options.keyAgeMs !== undefined) {
      this.#keyTimer = setInterval(() => void this.#renewKey(), KEY_LOOK_MS);
      void this.#renewKey();
    }
    const { standing, trouble } = this.#control.status;
    const { up } = this.#overlay;
    if (up) {
      // Report success or the failure to the caller.
      const hostFirewall = this.#options.opensHost ? await up.hostFirewall.status() : undefined;
      return { state: 'up', address: up.graph.self.address, ...(hostFirewall && { hostFirewall }) };
    }
    const { route } = this.#overlay;
    if ('refusal' in route) return { state: 'refused', detail: refusalText(route.refusal) };
    if (standing === 'ready' || standing === 'unknown') return { state: 'away', detail: trouble || this.#trouble };
    return { state: standing, detail: trouble };
  }

  async status(): Promise<NodeStatus> {
    const {
      config: { id, workspaceId },
      interfaceName,
      listenPort,
      newName,
    } = this.#options;
    const { up } = this.#overlay;
    const now = this.#options.clock.now();
    const { heardAt, isKeyShared, ...control } = this.#control.status;
    // Before the paths say how they are: they go by what the tunnel tells.
    const tunnelPeers = (await up?.paths.look()) ?? [];
    const facts = up && {
      tunnel: up.tunnel,
      graph: up.graph,
      tunnelPeers,
      paths: up.paths.statuses(),
      metrics: up.paths.metrics(),
      hostFirewall: await up.hostFirewall.status(),
    };
    const name = up?.graph.self.name ?? this.#config.name;
    return {
      node: {
        id,
        name,
        newName: newName !== undefined && normalizeName(newName.name) !== name ? newName : null,
        workspaceId,
        publicKey: Buffer.from(this.#keyPair.publicKey).toString('base64'),
        address: up?.graph.self.address ?? null,
        cidr: up?.graph.self.cidr ?? null,
        interface: interfaceName,
        tunnel: up?.tunnel.kind ?? null,
        listenPort: up?.tunnel.listenPort ?? listenPort,
        expiresAt: up?.graph.self.expiresAt ?? this.#config.expiresAt ?? null,
        pid: process.pid,
        startedAt: formatInstant(this.#startedAt),
      },
      control: { ...control, heardAt: heardAt === null ? null : formatInstant(heardAt) },
      routes: this.#routes(),
      log: logReport(this.#control.log),
      ...(facts ? overlayReport(facts, now) : NO_OVERLAY),
      names: this.#options.names?.status ?? null,
      proxy: this.#options.proxy?.status ?? null,
      trouble: this.#trouble || (isKeyShared ? KEY_SHARED : '') || up?.firewallKeeper.trouble || '',
    };
  }

  /** False where something of this node stays on the host, because it could not be removed. */
  get isClean(): boolean {
    return this.#overlay.isClean;
  }

  /** Tries the direct path to a peer again now. @returns whether the peer is known */
  hurry(nameOrId: string): boolean {
    const { up } = this.#overlay;
    const peer = up?.graph.peers.find(({ id, name }) => id === nameOrId || name === nameOrId);
    if (peer) up?.paths.hurry(peer.id);
    return peer !== undefined;
  }

  /** Has the host's own firewall accept the overlay until this node ends. @returns how it is then; undefined while the overlay is down */
  openFirewall(): Promise<HostFirewallStatus | undefined> {
    return this.#overlay.openHost();
  }

  /** Gives this node another key; tunnels go on. @throws PlaneRefusal or PlaneAway */
  async rotateKey(): Promise<string> {
    await this.#control.rotateKey();
    await this.#overlay.settled();
    this.#control.check('this node has another key');
    this.#options.log.info({}, 'this node has another key');
    return Buffer.from(this.#keyPair.publicKey).toString('base64');
  }

  /** Ends it as a person asks for it: `ended` resolves. */
  askToEnd(detail: string): void {
    this.#end({ why: 'asked', detail });
  }

  /** Takes everything away. Idempotent. */
  stop(): Promise<void> {
    this.#stopping ??= (async () => {
      this.#watch?.stop();
      this.#network.stop();
      this.#guard.stop();
      clearInterval(this.#keyTimer);
      await this.#overlay.close();
      this.#knownPeers.flush();
      await Promise.all([this.#options.names?.close(), this.#options.proxy?.close(), this.#control.stop()]);
    })();
    return this.#stopping;
  }

  /** Changes a key that is too old, or of which no age is known. What does not work now is tried again at the next look. */
  async #renewKey(): Promise<void> {
    const { keyAgeMs = Number.POSITIVE_INFINITY, clock, log } = this.#options;
    const age = ageOfKey(this.#config.keySince, clock.now());
    if (age < keyAgeMs || this.#control.status.standing !== 'ready') return;
    await this.rotateKey().catch((error: unknown) => log.warn({ error: String(error) }, 'the key was not changed'));
  }

  #expired(): void {
    if (this.#trouble !== OVER) this.#options.log.warn({}, OVER);
    this.#trouble = OVER;
    this.#control.check(OVER);
  }

  #useGraph(graph: FullGraph): void {
    const { reason, version, peers } = graph;
    this.#options.log.info({ version, peers: peers.length, reason }, 'the network changed');
    this.#config = { ...this.#config, name: graph.self.name };
    this.#guard.graphCame(graph.self.cidr, this.#overlay.up?.graph.self.cidr);
    this.#overlay.want(graph);
  }

  async #routeFacts(graph: FullGraph): Promise<Omit<RouteFacts, 'translated' | 'collisions' | 'isAlone'>> {
    const { acceptRoutes: accepted = [], carriedBlock: carried, withdrawnBlock: withdrawn } = this.#config;
    const { relayOverride } = this.#options;
    const { server, signalingUrl } = this.#config;
    const used = await usedAddresses({ server, signalingUrl, relayOverride }, graph);
    return { accepted, carried, withdrawn, used };
  }

  #routes(): NodeStatus['routes'] {
    const { route } = this.#overlay;
    return {
      accepted: [...(this.#config.acceptRoutes ?? [])],
      refused: 'refusal' in route ? route.refusal : null,
      carried: 'refusal' in route ? null : (route.warning ?? null),
    };
  }

  /** @param block undefined: what was withdrawn is routed again */
  #withdraw(block: string | undefined): void {
    this.#control.keepBlocks({ withdrawnBlock: block });
    this.#overlay.judgeAgain();
    this.#control.networkChanged();
  }

  #stand(standing: Standing, detail: string): void {
    const { log } = this.#options;
    if (standing === 'ready') {
      log.info({}, 'the control plane let this node in');
      return;
    }
    this.#overlay.want(undefined);
    if (standing === 'pending') log.info({}, 'waiting for an administrator to approve this node in the dashboard');
    else log.warn({}, `${sentence(detail)} Its tunnels are down.`);
    if (standing === 'removed') this.#end({ why: 'removed', detail });
  }

  #overlayTrouble(error: Error): void {
    const isSaid = this.#trouble === error.message;
    this.#trouble = error.message;
    // A node whose block is refused goes on, for its administrator to give it another.
    const isAwaited = error instanceof RouteRefused && error.refusal.code !== 'own-network';
    if (this.#isStarted || isAwaited) {
      if (!isSaid) this.#options.log.error({}, `${error.message}; trying again`);
    } else this.#failStart(error);
  }

  #tellPath({ peerId, transport, endpoint, reason }: PathStatus): void {
    const name = this.#overlay.up?.graph.peers.find(({ id }) => id === peerId)?.name ?? peerId;
    const where = endpoint && transport === 'ice-ready' ? ` at ${endpoint.address} port ${endpoint.port}` : '';
    this.#options.log.info({ reason: reason.code }, `${name}: ${transport}${where}: ${reason.detail}`);
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
