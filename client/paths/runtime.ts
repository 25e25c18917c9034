import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { type IpRange, parseCidr } from '../../core/model/cidr.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { hostCandidates, mainFamily } from '../ice-port/host-candidates.ts';
import { IcePort } from '../ice-port/ice-port.ts';
import { openPortByRules } from '../ice-port/port-by-rules.ts';
import type { OpenSharedPort } from '../ice-port/shared-port.ts';
import { type OpenLoopbackLink, openHostLink } from '../relay/loopback-link.ts';
import { relaysOf } from '../relay/relays-of-graph.ts';
import type { Endpoint, TunnelPeerState } from '../tunnel/tunnel.ts';
import { Carrier } from './carrier.ts';
import type { Connectivity, ConnectivityMetrics, ConnectivityOptions } from './connectivity.ts';
import { EndpointWriter } from './endpoint-writer.ts';
import type { PairStatus, PathCommand } from './path-command.ts';
import { Paths } from './paths.ts';
import type { PathStatus } from './status.ts';

/** A look at the tunnel while a direct path is in use, and otherwise. */
const LOOK_MS = 1_000;
const QUIET_LOOK_MS = 10_000;
/** How long an agent that took peers over waits for its session with the relay before it speaks to them. */
const RELAY_PATIENCE_MS = 2_000;
const GREETING_LOOK_MS = 10;

/** How the paths meet WireGuard. */
export interface WireGuardAccess {
  readonly openPort: OpenSharedPort;
  readonly openLink: OpenLoopbackLink;
}

/** For a WireGuard that has its own socket. */
const BY_HOST: WireGuardAccess = { openPort: openPortByRules, openLink: openHostLink };

/** Opens sockets and rules, and begins with every peer on the relay. */
export async function startConnectivity(
  options: ConnectivityOptions,
  { openPort, openLink }: WireGuardAccess = BY_HOST,
): Promise<Connectivity> {
  const { keyPair, workspaceId, graph, tunnel, lookup, log } = options;
  const { interfaceName, listenPort: wireguardPort } = tunnel;
  const overlay = overlayOf(graph);
  const hosts = hostCandidates(networkInterfaces(), { overlayInterface: interfaceName, overlay, port: wireguardPort });
  const onlyFamily = tunnel.mixesFamilies ? undefined : mainFamily(hosts);
  if (onlyFamily)
    log.info({ onlyFamily }, 'Peers are reached over one address family: this wireguard-go mixes up two.');
  const paths = new Paths({
    keyPair,
    ownId: graph.self.id,
    known: options.known,
    subjectOf: (peerId) => `mesh.${workspaceId}.${peerId}.signal`,
    overlay,
    ...(onlyFamily && { onlyFamily }),
    random: randomBytes,
    ...(options.held && { held: options.held }),
  });
  // Until it runs there are no peers, and nothing that arrives is of use.
  let running: RunningConnectivity | undefined;
  const perform = (commands: readonly PathCommand[]) => running?.perform(commands);
  const carrier = await Carrier.open({
    openLink,
    keyPair,
    wireguardPort,
    family: onlyFamily ?? 'ipv6',
    now,
    log,
    lookup,
    onCosts: (costs) => perform(paths.relayCostsChanged(costs, now())),
    onExpired: () => options.onCredentialExpired(),
    onRelay: (state) => perform(paths.relayChanged(state, now())),
    onProbed: (publicKey, isPresent) => perform(paths.relayProbed(publicKey, isPresent, now())),
    onMessage: (publicKey, bytes) => perform(paths.relayedReceived(publicKey, bytes, now())),
    onHeard: (publicKey) => {
      const commands = paths.relayHeard(publicKey, now());
      if (commands.length > 0) perform(commands);
    },
    isYielding: (publicKey) => paths.isYielding(publicKey),
    onUsed: (publicKey) => paths.relayUsed(publicKey, now()),
    onRoamed: (publicKey, direct, packet) => running?.sendDirect(publicKey, direct, packet),
  });
  try {
    const icePort = await IcePort.open({
      openPort,
      interfaceName,
      wireguardPort,
      overlay,
      now,
      log,
      lookup,
      onDatagram: (bytes, from) => perform(paths.stunReceived(bytes, from, now())),
      onChange: () => running?.portChanged(),
      onMoved: () => running?.networkChanged(),
    });
    running = new RunningConnectivity(options, paths, carrier, icePort);
    running.portChanged();
    await running.admit(graph);
    running.updateGraph(graph);
    running.keepLooking();
    return running;
  } catch (error) {
    await Promise.allSettled([(running ?? carrier).close()]);
    throw error;
  }
}

/** Feeds `Paths` with what happens, and does what it commands. */
class RunningConnectivity implements Connectivity {
  readonly #options: ConnectivityOptions;
  readonly #paths: Paths;
  readonly #carrier: Carrier;
  readonly #icePort: IcePort;
  readonly #endpoints: EndpointWriter;
  readonly #listeners = new Set<(status: PathStatus) => void>();
  #order: readonly string[] = [];
  #timer: NodeJS.Timeout | undefined;
  #wakeAt = Number.POSITIVE_INFINITY;
  #looker: NodeJS.Timeout | undefined;
  #greeting: NodeJS.Timeout | undefined;
  /** When peers are told of this agent at the latest; at once where none was held. */
  readonly #greetBy: number;
  #isLooking = false;
  #isLookWanted = false;
  #isClosed = false;

  constructor(options: ConnectivityOptions, paths: Paths, carrier: Carrier, icePort: IcePort) {
    this.#options = options;
    this.#paths = paths;
    this.#carrier = carrier;
    this.#icePort = icePort;
    this.#greetBy = options.held?.size ? now() + RELAY_PATIENCE_MS : 0;
    this.#endpoints = new EndpointWriter(options.tunnel, options.log);
  }

  admit({ peers }: FullGraph): Promise<ReadonlyMap<string, Endpoint>> {
    return this.#carrier.admit(peers.map(({ publicKey }) => publicKey));
  }

  updateGraph(graph: FullGraph): void {
    if (this.#isClosed) return;
    this.#order = graph.peers.map(({ id }) => id);
    this.perform(this.#paths.peersChanged(graph.peers, now()));
    this.#carrier
      .keep(new Set(graph.peers.map(({ publicKey }) => publicKey)))
      .catch((error: unknown) => this.#options.log.warn({ err: error }, 'Loopback addresses stayed.'));
    this.#icePort.setServers(graph.stun);
    this.#carrier.use(relaysOf(graph, this.#options.relayOverride));
    this.perform(this.#paths.relayChanged(this.#carrier.relayState, now()));
  }

  receiveSignal(subject: string, sealed: Uint8Array): void {
    this.perform(this.#paths.signalReceived(subject, sealed, now()));
  }

  busState(state: 'up' | 'down'): void {
    clearTimeout(this.#greeting);
    // Peers that hear of a new agent give up what they had with the last: the relay is there for their packets first.
    if (state === 'up' && this.#greetBy > now() && this.#carrier.relayState.state === 'away') {
      this.#greeting = setTimeout(() => this.busState(state), GREETING_LOOK_MS);
      return;
    }
    this.perform(this.#paths.busChanged(state === 'up', now()));
  }

  statuses(): readonly PathStatus[] {
    return this.#order.flatMap((id) => {
      const status = this.#paths.statusOf(id);
      return status ? [this.#shown(status)] : [];
    });
  }

  onChange(listener: (status: PathStatus) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  hurry(peerId: string): void {
    this.perform(this.#paths.hurry(peerId, now()));
  }

  networkChanged(): void {
    if (this.#isClosed) return;
    this.#carrier.networkChanged(ownAddresses());
    this.#icePort.networkChanged();
  }

  restoreRules(): void {
    if (this.#isClosed) return;
    this.#icePort.restoreRules();
    this.#carrier.restoreRules();
  }

  metrics(): ConnectivityMetrics {
    const { obstacle, mapped } = this.#icePort;
    return {
      relay: this.#carrier.metrics,
      icePort: { isShared: obstacle === null, obstacle, mapped },
      ignored: this.#paths.ignored,
    };
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.perform(this.#paths.close(now()));
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#greeting);
    clearTimeout(this.#looker);
    this.#listeners.clear();
    await Promise.allSettled([this.#carrier.close(), this.#icePort.close()]);
  }

  perform(commands: readonly PathCommand[]): void {
    if (this.#isClosed) return;
    for (const command of commands) this.#performOne(command);
    this.#schedule();
  }

  portChanged(): void {
    const { obstacle, mapped, candidates } = this.#icePort;
    const isMapped = mapped.ipv4 !== null || mapped.ipv6 !== null;
    this.perform(this.#paths.candidatesChanged(candidates, { obstacle, isMapped }, now()));
    this.#carrier.suspect();
  }

  /** WireGuard went back to where a late packet came from. It is told again; this packet takes the direct path meanwhile. */
  sendDirect(publicKey: string, direct: Endpoint, packet: Uint8Array): void {
    this.#icePort.send(direct, packet);
    this.perform(this.#paths.loopbackUsed(publicKey, now()));
  }

  /** Looks from now on who has traffic, and where WireGuard really sends to. */
  keepLooking(): void {
    clearTimeout(this.#looker);
    if (this.#isClosed) return;
    const wait = this.#carrier.hasDirects ? LOOK_MS : QUIET_LOOK_MS;
    this.#looker = setTimeout(() => void this.#lookSoon(), wait);
  }

  async look(): Promise<readonly TunnelPeerState[]> {
    const peers = await this.#options.tunnel.peers();
    const traffics = peers.map((peer) => ({
      ...peer,
      endpoint: peer.endpoint && this.#carrier.owns(peer.endpoint) ? ('relay' as const) : peer.endpoint,
    }));
    if (!this.#isClosed) this.perform(this.#paths.trafficSeen(traffics, now()));
    return peers;
  }

  /** Shares one look among all that ask while it is under way. */
  async #lookSoon(): Promise<void> {
    this.#isLookWanted = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    while (this.#isLookWanted && !this.#isClosed) {
      this.#isLookWanted = false;
      await this.look().catch((error: unknown) =>
        this.#options.log.debug({ err: error }, 'The tunnel did not say how its peers are.'),
      );
    }
    this.#isLooking = false;
    this.keepLooking();
  }

  async #handshake(publicKey: string, isRenewal: boolean): Promise<void> {
    try {
      await this.#options.tunnel.handshake(publicKey, isRenewal);
      // A handshake of WireGuard's own may still wait for its answer: then it begins no other.
      this.#carrier.sendInitiation(publicKey);
    } catch (error) {
      this.#options.log.debug({ err: error }, 'The tunnel began no handshake.');
    }
  }

  #performOne(command: PathCommand): void {
    switch (command.type) {
      case 'publish':
        this.#options.publish(command.subject, command.sealed);
        return;
      case 'stun':
        this.#icePort.send(command.to, command.bytes);
        return;
      case 'relay':
        this.#carrier.sendMessage(command.publicKey, command.bytes);
        return;
      case 'probe-relay':
        this.#carrier.probe(command.publicKey);
        return;
      case 'peer-costs':
        this.#carrier.peerCosts(command.publicKey, command.costs);
        return;
      case 'met':
        this.#carrier.meet(command.publicKey);
        return;
      case 'remember':
        this.#options.remember(command.publicKey, command.endpoints);
        return;
      case 'endpoint':
        this.#moveEndpoint(command);
        return;
      case 'opened':
        this.#carrier.sendInitiation(command.publicKey);
        return;
      case 'look':
        void this.#lookSoon();
        return;
      case 'handshake':
        void this.#handshake(command.publicKey, command.isRenewal);
        return;
      case 'changed':
        for (const listener of this.#listeners) listener(this.#shown(command.status));
        return;
      case 'log':
        this.#options.log[command.level](command.fields, command.message);
        return;
      default:
        command satisfies never;
    }
  }

  #moveEndpoint({ publicKey, endpoint, isNew }: Extract<PathCommand, { type: 'endpoint' }>): void {
    const target = this.#carrier.move(publicKey, endpoint);
    if (!target) return;
    this.#endpoints.set(publicKey, target);
    // A direct path that is lost speaks against the port, too.
    if (isNew && endpoint === 'relay') this.#icePort.suspect();
  }

  #shown({ endpoint, unansweredSince, ...rest }: PairStatus): PathStatus {
    const silentMs = unansweredSince === undefined ? null : Math.round(now() - unansweredSince);
    const status = { ...rest, silentMs };
    if (endpoint !== 'relay') return { ...status, endpoint, relay: null };
    const publicKey = this.#paths.publicKeyOf(status.peerId);
    const shown = (publicKey && this.#carrier.shownEndpointOf(publicKey)) || null;
    return { ...status, endpoint: shown, relay: (publicKey && this.#carrier.relayOf(publicKey)) || null };
  }

  #schedule(): void {
    const { deadline } = this.#paths;
    if (deadline >= this.#wakeAt) return;
    clearTimeout(this.#timer);
    this.#wakeAt = deadline;
    this.#timer = setTimeout(
      () => {
        this.#wakeAt = Number.POSITIVE_INFINITY;
        this.perform(this.#paths.tick(now()));
      },
      Math.max(1, Math.ceil(deadline - now())),
    );
  }
}

/** Milliseconds since the epoch by a clock that no one can set while the process runs. */
function now(): number {
  return performance.timeOrigin + performance.now();
}

function ownAddresses(): ReadonlySet<string> {
  return new Set(Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []));
}

function overlayOf({ self }: FullGraph): readonly IpRange[] {
  return [self.cidr, ...(self.former ? [self.former.cidr] : [])].flatMap((cidr) => parseCidr(cidr) ?? []);
}
