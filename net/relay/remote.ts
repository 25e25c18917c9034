import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock, Log } from '../../core/base/ports.ts';
import { formatRelayAddress, type RelayAddress } from './address.ts';
import { RelayControl } from './control.ts';
import { type RelayKeys, relayKeysOf } from './credential.ts';
import { tlsOptionsOf } from './dial.ts';
import { RELAY_LIMITS } from './limits.ts';
import type { Member } from './member.ts';
import { Revocations } from './revocations.ts';

const TICK_MS = 1_000;
/** Milliseconds until the next attempt: the first, and at most. A revoked node may use the relay for as long. */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;
/** Milliseconds after which a connection that broke was a good one, and the next outage is a new one. */
const SETTLED_MS = 10_000;
/** Milliseconds in which a relay says something after it was told of a revocation; a dead path is not waited out. */
const ANSWER_MS = 5_000;

export interface RemoteRelayOptions {
  readonly address: RelayAddress;
  /** MESH_LRP_AUTH_TOKEN of both. */
  readonly token: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Between 0 and 1; shortens waits, so that not all control planes come back at once. */
  readonly random?: () => number;
}

export interface RemoteRelayMetrics {
  readonly up: 0 | 1;
  readonly connects: number;
  readonly revocations: number;
  readonly sent: number;
  readonly confirmed: number;
}

/** A connection, from its first byte to its last. */
interface Link {
  readonly socket: Socket;
  readonly control: RelayControl;
  readonly openedAt: number;
  heardAt: number;
  sentAt: number;
  /** When a revocation was sent that nothing was heard since. */
  askedAt: number | undefined;
  isReady: boolean;
  problem: string | undefined;
}

/**
 * A relay that runs elsewhere, as a control plane sees it: told of every revocation at once, and of all current ones
 * whenever a connection comes about, so that none is lost while it was away.
 */
export class RemoteRelay {
  readonly #options: RemoteRelayOptions;
  readonly #keys: RelayKeys;
  readonly #place: string;
  readonly #revoked = new Revocations(RELAY_LIMITS.maxRevocations);
  /** Keys that came back, until their revocation would have ended: the relay may hold it still. */
  readonly #pardoned = new Revocations(RELAY_LIMITS.maxRevocations);
  readonly #counts = { connects: 0, sent: 0, confirmed: 0 };
  #link: Link | undefined;
  #problem: string | undefined = 'not connected yet';
  #failures = 0;
  #ticker: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: RemoteRelayOptions) {
    this.#options = options;
    this.#keys = relayKeysOf(options.token);
    const { host, port, secure } = options.address;
    this.#place = formatRelayAddress({ host, port, secure });
  }

  /** Begins to connect; a relay that is away is no error. */
  start(): void {
    this.#ticker = setInterval(() => this.#tick(), TICK_MS).unref();
    this.#connect();
  }

  /** Idempotent. */
  stop(): void {
    clearInterval(this.#ticker);
    clearTimeout(this.#retry);
    this.#ticker = undefined;
    this.#link?.socket.destroy();
    this.#link = undefined;
  }

  /** Ends the sessions of a key; `until` is when its last credential runs out. */
  revoke(member: Member, until: number): void {
    this.#pardoned.remove(member);
    this.#revoked.add(member, until);
    if (this.#link?.isReady) this.#tell(this.#link, this.#link.control.revoke(member, until));
  }

  /** Lets a key in again that came back to the network. */
  allow(member: Member): void {
    const until = this.#revoked.until(member);
    if (until === undefined) return;
    this.#revoked.remove(member);
    this.#pardoned.add(member, until);
    if (this.#link?.isReady) this.#tell(this.#link, this.#link.control.allow(member));
  }

  /** Why it cannot be told anything now; undefined when it can. */
  get problem(): string | undefined {
    return this.#link?.isReady ? undefined : `the relay at ${this.#place} is away: ${this.#problem}`;
  }

  metrics(): RemoteRelayMetrics {
    return { up: this.#link?.isReady ? 1 : 0, revocations: this.#revoked.size, ...this.#counts };
  }

  #connect(): void {
    const { address, clock } = this.#options;
    const { host, port } = address;
    const socket = address.secure ? connectTls(tlsOptionsOf(address)) : connectTcp({ host, port });
    const now = clock.now();
    const control = new RelayControl(this.#keys);
    const link: Link = {
      socket,
      control,
      openedAt: now,
      heardAt: now,
      sentAt: now,
      askedAt: undefined,
      isReady: false,
      problem: undefined,
    };
    this.#link = link;
    socket.setNoDelay(true);
    socket.once(address.secure ? 'secureConnect' : 'connect', () => this.#write(link, control.start()));
    socket.on('data', (chunk) => this.#receive(link, chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      link.problem ??= error.code ?? error.message;
    });
    socket.on('close', () => this.#closed(link));
  }

  #receive(link: Link, chunk: Uint8Array): void {
    link.heardAt = this.#options.clock.now();
    link.askedAt = undefined;
    for (const event of link.control.receive(chunk)) {
      switch (event.type) {
        case 'send':
          this.#write(link, event.bytes);
          break;
        case 'ready':
          this.#ready(link);
          break;
        case 'revoked':
          this.#counts.confirmed++;
          break;
        case 'closed':
          this.#end(link, PROBLEMS[event.reason] ?? event.reason);
          break;
        default:
          event satisfies never;
      }
    }
  }

  #ready(link: Link): void {
    if (link.isReady) return;
    link.isReady = true;
    this.#counts.connects++;
    for (const { member } of this.#pardoned) this.#tell(link, link.control.allow(member));
    for (const { member, until } of this.#revoked) this.#tell(link, link.control.revoke(member, until));
    const fields = { relay: this.#place, revocations: this.#revoked.size };
    this.#options.log.info(fields, 'connected to the relay: it hears of revocations');
  }

  #tell(link: Link, bytes: Uint8Array): void {
    this.#counts.sent++;
    link.askedAt ??= this.#options.clock.now();
    this.#write(link, bytes);
  }

  #write(link: Link, bytes: Uint8Array): void {
    link.sentAt = this.#options.clock.now();
    if (!link.socket.destroyed) link.socket.write(bytes);
  }

  #tick(): void {
    const now = this.#options.clock.now();
    this.#revoked.forgetUntil(now);
    this.#pardoned.forgetUntil(now);
    const link = this.#link;
    if (link === undefined) return;
    const { handshakeMs, deadMs, keepaliveMs } = RELAY_LIMITS;
    if (!link.isReady) {
      if (now - link.openedAt >= handshakeMs) this.#end(link, 'it does not answer');
    } else if (now - link.heardAt >= deadMs || (link.askedAt !== undefined && now - link.askedAt >= ANSWER_MS)) {
      this.#end(link, 'it went silent');
    } else if (now - link.sentAt >= keepaliveMs) this.#write(link, link.control.keepalive());
  }

  #end(link: Link, problem: string): void {
    link.problem ??= problem;
    link.socket.destroy();
  }

  #closed(link: Link): void {
    if (this.#link !== link) return;
    this.#link = undefined;
    this.#problem = link.problem ?? (link.isReady ? 'it closed the connection' : PROBLEMS['protocol']);
    const { random = Math.random, log, clock } = this.#options;
    if (link.isReady && clock.now() - link.openedAt >= SETTLED_MS) this.#failures = 0;
    const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures, 10));
    const retryMs = Math.round(longest * (1 - random() / 2));
    // An outage is said once, not at every attempt.
    const level = this.#failures === 0 ? 'warn' : 'debug';
    log[level](
      { relay: this.#place, reason: this.#problem, retryMs },
      'the relay is away: nodes revoked meanwhile may use it until it is back; trying again',
    );
    this.#failures++;
    this.#retry = setTimeout(() => this.#connect(), retryMs);
    this.#retry.unref();
  }
}

const PROBLEMS: Readonly<Record<string, string>> = {
  'bad-proof': 'it has another shared token: set the same MESH_LRP_AUTH_TOKEN on both',
  protocol:
    'it does not answer as a relay (one with TLS is addressed as lrps://<host>:<port>, one without as <host>:<port>)',
  restart: 'it restarts',
  limit: 'it has no room for more connections',
};
