import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import type { Log } from '../../core/base/ports.ts';
import type { IpRange } from '../../core/model/cidr.ts';
import { isPort } from '../../net/host-port.ts';
import { decodeStun } from '../../net/stun/message.ts';
import { type Family, familyOf } from '../family.ts';
import type { Lookup } from '../lookup.ts';
import { type Candidate, isUsableAddress, priorityOf } from '../paths/ice/candidate.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { Gatherer } from './gatherer.ts';
import { hostCandidates } from './host-candidates.ts';
import type { OpenSharedPort, SharedPort } from './shared-port.ts';

/** How often this host's addresses are looked at, should nobody tell of a change. */
const LOOK_MS = 3_000;
/** How often it is tried whether the port is still shared: tools that load a firewall may flush ours. */
const TEST_MS = 10_000;
/** How often it is tried again to share a port that could not be shared. */
const RETRY_MS = 60_000;
/** Between two tests that someone asks for. */
const MIN_TEST_GAP_MS = 1_000;
/** Names of servers are asked for again after this long. */
const RESOLVE_MS = 300_000;
const MAX_SERVERS = 3;
const DEFAULT_STUN_PORT = 3478;

export interface IcePortOptions {
  readonly openPort: OpenSharedPort;
  readonly interfaceName: string;
  readonly wireguardPort: number;
  /** Blocks whose addresses are inside the tunnel. */
  readonly overlay: readonly IpRange[];
  /** Milliseconds; must not jump. */
  readonly now: () => number;
  readonly log: Log;
  readonly lookup: Lookup;
  /** STUN that answers no question of the port itself. */
  readonly onDatagram: (bytes: Uint8Array, from: Endpoint) => void;
  /** The addresses that peers may know, or whether the port is shared, changed. */
  readonly onChange: () => void;
  /** A look found other addresses of this host. */
  readonly onMoved: () => void;
}

/**
 * A socket that shares WireGuard's UDP port on the wire, and what is known of that port: the host's addresses and how the
 * world sees it. Where the port cannot be shared there are no candidates and `obstacle` says why.
 */
export class IcePort {
  readonly #options: IcePortOptions;
  readonly #gatherer = new Gatherer(randomBytes);
  #shared: SharedPort | undefined;
  #obstacle: string | null = null;
  #hosts: readonly Candidate[] = [];
  #serverNames: readonly string[] = [];
  #resolvedAt = Number.NEGATIVE_INFINITY;
  #looker: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #testedAt = Number.NEGATIVE_INFINITY;
  #testing: Promise<void> | undefined;
  #isClosed = false;

  private constructor(options: IcePortOptions) {
    this.#options = options;
  }

  static async open(options: IcePortOptions): Promise<IcePort> {
    const port = new IcePort(options);
    const { interfaceName, wireguardPort, log } = options;
    port.#shared = await options.openPort({
      interfaceName,
      wireguardPort,
      log,
      onDatagram: (bytes, { address, port: from }) => port.#receive(bytes, { address, port: from }),
    });
    await port.#share();
    port.#hosts = port.#look();
    port.#looker = setInterval(() => port.#watch(), LOOK_MS);
    return port;
  }

  /** Reason why the port cannot be shared; null when it is. */
  get obstacle(): string | null {
    return this.#obstacle;
  }

  get mapped(): Readonly<Record<Family, Endpoint | null>> {
    return this.#gatherer.mapped;
  }

  get candidates(): readonly Candidate[] {
    if (this.#obstacle !== null) return [];
    const { ipv4, ipv6 } = this.#gatherer.mapped;
    const seen = [ipv4, ipv6].flatMap((mapped) => {
      if (!mapped || !isUsableAddress(mapped.address, this.#options.overlay)) return [];
      if (this.#hosts.some(({ address, port }) => address === mapped.address && port === mapped.port)) return [];
      const priority = priorityOf('srflx', mapped.address);
      return [{ type: 'srflx' as const, address: mapped.address, port: mapped.port, priority }];
    });
    return [...this.#hosts, ...seen];
  }

  /** STUN servers as host:port. */
  setServers(names: readonly string[]): void {
    if (names.join() === this.#serverNames.join()) return;
    this.#serverNames = names.slice(0, MAX_SERVERS);
    void this.#resolve();
  }

  /** Leaves from WireGuard's port. */
  send(to: Endpoint, bytes: Uint8Array): void {
    if (!this.#isClosed) this.#shared?.send(to, bytes);
  }

  /** Something speaks against the port or the addresses: both are looked at now. */
  suspect(): void {
    if (this.#options.now() - this.#testedAt < MIN_TEST_GAP_MS) return;
    this.#gatherer.refresh(this.#options.now());
    this.#tick();
    this.#test();
  }

  /** Rules were taken from this host, perhaps these too: to ask first whether they do what they should takes too long. */
  restoreRules(): void {
    if (!this.#isClosed) this.#begin(() => this.#shareAgain());
  }

  /** This host has other addresses or routes: the world may see the port elsewhere, even if the addresses are the same. */
  networkChanged(): void {
    if (this.#isClosed) return;
    this.#hosts = this.#look();
    this.#gatherer.refresh(this.#options.now());
    this.#tick();
    this.#options.onChange();
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearInterval(this.#looker);
    clearTimeout(this.#timer);
    await this.#testing;
    await this.#shared?.close();
  }

  #receive(bytes: Uint8Array, from: Endpoint): void {
    const message = decodeStun(bytes);
    if (!message || this.#isClosed) return;
    const answer = this.#shared?.answerOf(message, from);
    if (answer) {
      this.#shared?.send(from, answer);
      return;
    }
    const isMappingChanged = this.#gatherer.receive(message, this.#options.now());
    if (isMappingChanged === undefined) this.#options.onDatagram(bytes, from);
    else {
      this.#schedule();
      if (isMappingChanged) this.#options.onChange();
    }
  }

  /** Shares the port and tells people why it is not, once. */
  async #share(): Promise<void> {
    const before = this.#obstacle;
    this.#testedAt = this.#options.now();
    this.#obstacle = (await this.#shared?.share()) ?? null;
    if (this.#obstacle !== null && this.#obstacle !== before)
      this.#options.log.warn({ obstacle: this.#obstacle }, 'Peers are reached by the relay only.');
  }

  #test(): void {
    if (!this.#testing) this.#begin(() => this.#testNow());
  }

  #begin(run: () => Promise<void>): void {
    const testing = Promise.all([this.#testing, run()]).then(() => {
      if (this.#testing === testing) this.#testing = undefined;
    });
    this.#testing = testing;
  }

  async #testNow(): Promise<void> {
    this.#testedAt = this.#options.now();
    if (this.#obstacle === null && (await this.#shared?.isShared())) return;
    const before = this.#obstacle;
    await this.#shareAgain();
    if (before === null && !this.#isClosed)
      this.#options.log.info({}, 'The rules that share the port were gone and are in force again.');
  }

  async #shareAgain(): Promise<void> {
    if (this.#isClosed) return;
    const before = this.#obstacle;
    await this.#share();
    if (before !== this.#obstacle && !this.#isClosed) this.#options.onChange();
  }

  #watch(): void {
    const now = this.#options.now();
    if (now - this.#testedAt >= (this.#obstacle === null ? TEST_MS : RETRY_MS)) this.#test();
    if (now - this.#resolvedAt >= RESOLVE_MS) void this.#resolve();
    if (JSON.stringify(this.#look()) !== JSON.stringify(this.#hosts)) this.#options.onMoved();
  }

  #look(): readonly Candidate[] {
    const { interfaceName, overlay, wireguardPort } = this.#options;
    return hostCandidates(networkInterfaces(), { overlayInterface: interfaceName, overlay, port: wireguardPort });
  }

  async #resolve(): Promise<void> {
    this.#resolvedAt = this.#options.now();
    const names = this.#serverNames;
    const found = await Promise.all(names.map((name) => addressesOf(name, this.#options.lookup)));
    if (this.#isClosed || names !== this.#serverNames) return;
    const servers = found.flat();
    // Names that cannot be resolved are asked for again soon.
    if (servers.length === 0) this.#resolvedAt = this.#options.now() - RESOLVE_MS + TEST_MS;
    const now = this.#options.now();
    for (const family of ['ipv4', 'ipv6'] as const) {
      const some = servers.filter(({ address }) => familyOf(address) === family);
      this.#gatherer.setServers(family, some, now);
    }
    this.#tick();
  }

  #tick(): void {
    if (this.#isClosed) return;
    const { send, isChanged } = this.#gatherer.tick(this.#options.now());
    for (const { to, bytes } of send) this.send(to, bytes);
    this.#schedule();
    if (isChanged) this.#options.onChange();
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    const { deadline } = this.#gatherer;
    if (deadline === Infinity || this.#isClosed) return;
    this.#timer = setTimeout(() => this.#tick(), Math.max(1, deadline - this.#options.now()));
  }
}

/** Returns the first address of each family of a host:port; none for any other text. */
export async function addressesOf(name: string, lookup: Lookup): Promise<readonly Endpoint[]> {
  const [, host = '', port] = /^\[?([^\]]+?)\]?(?::(\d+))?$/.exec(name) ?? [];
  const at = Number(port ?? DEFAULT_STUN_PORT);
  const found = host !== '' && isPort(at) ? await lookup(host).catch(() => []) : [];
  return [4, 6].flatMap((family) => {
    const address = found.find((each) => each.family === family)?.address;
    return address === undefined ? [] : [{ address, port: at }];
  });
}
