import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Log } from '../../core/base/ports.ts';
import { formatRelayAddress, type RelayAddress } from '../../net/relay/address.ts';
import { RelayClient, type RelayClientEvent } from '../../net/relay/client.ts';
import { decodeCredential } from '../../net/relay/credential.ts';
import { tlsOptionsOf } from '../../net/relay/dial.ts';
import { MAX_PAYLOAD_BYTES, peerIdOf } from '../../net/relay/frame.ts';
import type { KeyPair } from '../../net/seal/x25519.ts';
import { countOf, partsOf } from '../../platform/segments.ts';
import { type Lookup, socketLookup } from '../lookup.ts';
import { Backoff } from './backoff.ts';
import { Outbox } from './outbox.ts';

const TICK_MS = 1_000;
/** TCP, and TLS where there is one, up to the first byte of the relay. */
const CONNECT_TIMEOUT_MS = 5_000;
/** A relay that refuses us as we are is asked again after this long, or at once with another credential. */
const REFUSED_RETRY_MS = 60_000;
/** A relay may ask a node to stay away for so long at most. */
const LONGEST_RETRY_MS = 60_000;
/** A session that lasted for so long was a success: the wait after it is a first one. */
const SETTLED_MS = 10_000;
/** After so long in use a session is asked for an echo; without one it is dead, whatever else it brings: that is the way here alone. */
const ECHO_AFTER_MS = 4_000;
const ECHO_DEAD_MS = 10_000;
/** After a change of the network a session has to say something within this. */
const SUSPECT_DEAD_MS = 700;
/** Where another relay takes over: a session in use that says nothing for so long is asked, and then passed by until it answers. */
const QUICK_ECHO_AFTER_MS = 350;
const STALLED_MS = 650;
/** How long a session with a relay that restarts goes on taking packets, where another relay takes over. */
const LEAVE_MS = 1_000;
/** Several bursts of WireGuard, so that few frames come in pieces. One for all links: each read is handled before the next. */
const readBuffer = Buffer.allocUnsafeSlow(262_144);
const NO_BYTES = new Uint8Array(0);

export type LinkDrop = 'relay-away' | 'queue-full' | 'too-large';

export interface RelayLinkOptions {
  readonly keyPair: KeyPair;
  /** Milliseconds; must not jump. */
  readonly now: () => number;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly log: Log;
  readonly lookup: Lookup;
  /** Another relay can take over: left out, this is the only one. */
  readonly isBacked?: () => boolean;
  /** It says that the credential is used up, by its clock. Told once a minute at most. */
  readonly onExpired?: () => void;
  /** Tells whether this is a peer of this node: left out, anybody is. A relay may name as many others as it likes. */
  readonly isPeer?: (id: bigint) => boolean;
  /** The first packet since the relay was heard of: `look` is to be called again and again, until it is heard of. */
  readonly onUse?: () => void;
  readonly onReady: () => void;
  readonly onAway: (reason: string) => void;
  /** Coalesced packets by their segment (platform/segments.ts). Valid until the handler returns. */
  readonly onPackets: (from: bigint, packets: Uint8Array, segment: number) => void;
  readonly onProbed: (peer: bigint, isPresent: boolean) => void;
}

interface Session {
  readonly socket: Socket;
  readonly client: RelayClient;
  readonly outbox: Outbox;
  /** Peers that take coalesced packets: heard of by this session. */
  readonly takers: Set<bigint>;
  startedAt: number;
  readyAt: number | undefined;
  heardAt: number;
  /** Since an echo came back: when something was first sent, and when an echo was asked for. */
  sentAt: number | undefined;
  echoAt: number | undefined;
  /** The same since anything was heard of it, which looks are for. */
  quickSentAt: number | undefined;
  quickEchoAt: number | undefined;
  /** It does not answer, and packets take another relay. */
  isStalled: boolean;
  /** Its relay restarts, and packets take another one. */
  isLeaving: boolean;
}

/** The session with one relay: kept open, opened again with back-off, renewed with the credential of each graph. */
export class RelayLink {
  readonly sent = { packets: 0 };
  readonly received = { packets: 0 };
  readonly dropped: Record<LinkDrop, number> = { 'relay-away': 0, 'queue-full': 0, 'too-large': 0 };
  readonly #options: RelayLinkOptions;
  readonly #ownId: bigint;
  readonly #backoff: Backoff;
  #address: RelayAddress | undefined;
  #session: Session | undefined;
  #expiredAt = Number.NEGATIVE_INFINITY;
  #reason: string | undefined;
  #retry: NodeJS.Timeout | undefined;
  #ticker: NodeJS.Timeout | undefined;

  constructor(options: RelayLinkOptions) {
    this.#options = options;
    this.#ownId = peerIdOf(options.keyPair.publicKey);
    this.#backoff = new Backoff(options.random);
  }

  get state(): 'ready' | 'connecting' | 'away' | 'none' {
    if (this.#address === undefined) return 'none';
    if (this.#session === undefined || this.#session.isStalled || this.#session.isLeaving) return 'away';
    return this.#session.client.state === 'ready' ? 'ready' : 'connecting';
  }

  /** Why the last session ended or could not begin; undefined while ready. */
  get reason(): string | undefined {
    return this.state === 'ready' ? undefined : this.#reason;
  }

  /** Without the credential. */
  get address(): string | undefined {
    if (this.#address === undefined) return undefined;
    const { credential: _secret, ...where } = this.#address;
    return formatRelayAddress(where);
  }

  /** The relay of the newest graph. A new credential for the same place renews the session under way. */
  use(address: RelayAddress | undefined): void {
    const before = this.#address;
    this.#address = address;
    if (address === undefined) {
      this.#end('the graph names no relay');
      return;
    }
    const isSamePlace = before !== undefined && where(before) === where(address);
    if (isSamePlace && before.credential === address.credential) return;
    const session = this.#session;
    if (isSamePlace && session?.client.state === 'ready') {
      const credential = decodeCredential(address.credential ?? '');
      if (credential !== undefined) session.outbox.send(session.client.renew(credential));
      return;
    }
    this.#end('the relay changed');
    this.#backoff.reset();
    this.#connect();
  }

  /** Coalesced packets by their segment. @returns why the last that was dropped was; undefined when all are on their way */
  forward(peer: bigint, packets: Uint8Array, segment: number): LinkDrop | undefined {
    const session = this.#session;
    const count = countOf(packets, segment);
    if (session === undefined || session.client.state !== 'ready') return this.#drop('relay-away', count);
    if (segment > 0 && !session.takers.has(peer)) {
      let dropped: LinkDrop | undefined;
      for (const packet of partsOf(packets, segment)) dropped = this.forward(peer, packet, 0) ?? dropped;
      return dropped;
    }
    if (packets.length > MAX_PAYLOAD_BYTES) return this.#drop('too-large', count);
    if (!session.outbox.forward(peer, packets, segment)) return this.#drop('queue-full', count);
    if (session.quickSentAt === undefined) {
      session.quickSentAt = this.#options.now();
      session.sentAt ??= session.quickSentAt;
      this.#options.onUse?.();
    }
    this.sent.packets += count;
    return undefined;
  }

  /**
   * Checks several times a second that the session in use is alive: one that does not answer is given up in favour of
   * another relay long before it counts as dead.
   *
   * @returns whether it is to be looked at again
   */
  look(): boolean {
    const session = this.#session;
    if (session?.client.state !== 'ready' || session.quickSentAt === undefined || session.isStalled) return false;
    if (!this.#options.isBacked?.()) return true;
    const now = this.#options.now();
    if (session.quickEchoAt === undefined) {
      if (now - session.quickSentAt < QUICK_ECHO_AFTER_MS) return true;
      session.quickEchoAt = now;
      this.#askEcho(session);
    } else if (now - session.quickEchoAt >= STALLED_MS) {
      session.isStalled = true;
      this.#reason = 'silent';
      this.#options.onAway(this.#reason);
      return false;
    }
    return true;
  }

  /** Sends what was forwarded, which would else leave at the end of this turn of the event loop. */
  flush(): void {
    this.#session?.outbox.flush();
  }

  /** Asks whether a peer is connected to the relay. */
  probe(peer: bigint): void {
    const session = this.#session;
    if (session?.client.state !== 'ready') return;
    session.outbox.send(session.client.probe(peer, NO_BYTES));
    session.sentAt ??= this.#options.now();
  }

  /** Something speaks against the session: it is dead unless an echo comes back in time. */
  suspect(): void {
    const session = this.#session;
    if (session?.client.state !== 'ready') return;
    session.sentAt ??= this.#options.now();
    session.echoAt ??= this.#options.now();
    this.#askEcho(session);
  }

  /**
   * This host's network changed, and these are its addresses. A session of another address is dead; any other has to answer
   * soon; and what failed before the change is tried now.
   */
  networkChanged(addresses: ReadonlySet<string>): void {
    const session = this.#session;
    if (session?.client.state === 'ready' && addresses.has(canonical(session.socket.localAddress))) {
      this.suspect();
      const at = this.#options.now();
      const look = () => {
        if (session.heardAt < at) this.#lost(session, 'silent', undefined);
      };
      setTimeout(look, SUSPECT_DEAD_MS).unref();
      return;
    }
    if (this.#address === undefined) return;
    this.#backoff.reset();
    if (session) this.#lost(session, 'the network of this host changed', undefined);
    this.#connect();
  }

  close(): void {
    this.#address = undefined;
    this.#end('closed');
  }

  #drop(reason: LinkDrop, count: number): LinkDrop {
    this.dropped[reason] += count;
    return reason;
  }

  #askEcho({ outbox, client }: Session): void {
    outbox.send(client.probe(this.#ownId, NO_BYTES));
  }

  #connect(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const address = this.#address;
    if (address === undefined || this.#session !== undefined) return;
    const credential = decodeCredential(address.credential ?? '');
    if (credential === undefined) {
      this.#reason = 'the graph holds no usable relay credential';
      return;
    }
    const { keyPair, now } = this.#options;
    const client = new RelayClient(keyPair, { credential });
    const { host, port } = address;
    const onread = {
      buffer: readBuffer,
      callback: (length: number, buffer: Uint8Array) => {
        this.#receive(session, buffer.subarray(0, length));
        return true;
      },
    };
    const lookup = socketLookup(this.#options.lookup);
    const socket = address.secure
      ? connectTls({ ...tlsOptionsOf(address), lookup })
      : connect({ host, port, onread, lookup });
    const at = now();
    const session: Session = {
      socket,
      client,
      outbox: new Outbox(socket),
      takers: new Set(),
      startedAt: at,
      readyAt: undefined,
      heardAt: at,
      sentAt: undefined,
      echoAt: undefined,
      quickSentAt: undefined,
      quickEchoAt: undefined,
      isStalled: false,
      isLeaving: false,
    };
    this.#session = session;
    let failure: string | undefined;
    socket.setNoDelay(true);
    socket.once(address.secure ? 'secureConnect' : 'connect', () => {
      if (this.#session === session) socket.write(client.start(now()));
    });
    if (address.secure) socket.on('data', (chunk: Buffer) => this.#receive(session, chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      failure = error.code ?? error.message;
    });
    socket.on('close', () => this.#lost(session, failure ?? 'the connection ended', undefined));
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS);
  }

  #receive(session: Session, chunk: Uint8Array): void {
    if (this.#session !== session) return;
    const now = this.#options.now();
    session.heardAt = now;
    session.quickSentAt = undefined;
    session.quickEchoAt = undefined;
    for (const event of session.client.receive(chunk, now)) this.#handle(session, event);
  }

  #isPeer(id: bigint): boolean {
    return this.#options.isPeer?.(id) ?? true;
  }

  /** With each new credential a relay whose clock is ahead says it again at once. */
  #expired(): void {
    const now = this.#options.now();
    if (now - this.#expiredAt < REFUSED_RETRY_MS) return;
    this.#expiredAt = now;
    this.#options.onExpired?.();
  }

  /** An answer shows both ways open; packets of peers show one alone. */
  #echoed(session: Session): void {
    session.sentAt = undefined;
    session.echoAt = undefined;
    if (!session.isStalled) return;
    session.isStalled = false;
    if (session.client.state !== 'ready' || session.isLeaving) return;
    this.#reason = undefined;
    this.#options.onReady();
  }

  #handle(session: Session, event: RelayClientEvent): void {
    const { onReady, onPackets, onProbed } = this.#options;
    switch (event.type) {
      case 'forward':
        if (event.takesCoalesced && !session.takers.has(event.peer) && this.#isPeer(event.peer))
          session.takers.add(event.peer);
        this.received.packets += countOf(event.packets, event.segment);
        onPackets(event.peer, event.packets, event.segment);
        return;
      case 'send':
        session.outbox.send(event.bytes);
        return;
      case 'ready':
        session.readyAt ??= this.#options.now();
        this.#reason = undefined;
        onReady();
        return;
      case 'probe-reply':
        if (event.peer === this.#ownId) this.#echoed(session);
        else onProbed(event.peer, event.isPresent);
        return;
      case 'move':
        this.#leave(session, event.retryAfterMs);
        return;
      case 'closed':
        this.#lost(session, event.reason, event.mayReturn ? event.retryAfterMs : REFUSED_RETRY_MS);
        if (event.reason === 'credential-expired') this.#expired();
        return;
      default:
        event satisfies never;
    }
  }

  #tick(): void {
    const session = this.#session;
    if (session === undefined) return;
    const now = this.#options.now();
    for (const event of session.client.tick(now)) this.#handle(session, event);
    if (this.#session !== session) return;
    if (session.client.state !== 'ready') {
      if (now - session.startedAt >= CONNECT_TIMEOUT_MS && session.client.state === 'new') {
        this.#lost(session, 'no answer in time', undefined);
      }
      return;
    }
    if (session.sentAt === undefined) return;
    if (session.echoAt === undefined) {
      if (now - session.sentAt < ECHO_AFTER_MS) return;
      session.echoAt = now;
      this.#askEcho(session);
    } else if (now - session.echoAt >= ECHO_DEAD_MS - ECHO_AFTER_MS) this.#lost(session, 'silent', undefined);
  }

  /** Takes packets that peers still send by a relay that restarts, while this node's own go elsewhere. */
  #leave(session: Session, retryAfterMs: number): void {
    const reason = 'the relay restarts';
    if (!this.#options.isBacked?.()) {
      this.#lost(session, reason, retryAfterMs);
      return;
    }
    if (session.isLeaving) return;
    session.isLeaving = true;
    this.#reason = reason;
    this.#options.onAway(reason);
    setTimeout(() => this.#lost(session, reason, retryAfterMs), LEAVE_MS).unref();
  }

  /**
   * The session is over; another follows after `retryAfterMs`, or after the back-off if that is longer. A relay says it before it
   * has proven anything, so it is held to bounds, and a session that it ends at once is a failure like any other.
   */
  #lost(session: Session, reason: string, retryAfterMs: number | undefined): void {
    if (this.#session !== session) return;
    this.#session = undefined;
    this.#reason = reason;
    session.socket.destroy();
    if (session.readyAt !== undefined && this.#options.now() - session.readyAt >= SETTLED_MS) this.#backoff.reset();
    const wait = Math.max(this.#backoff.next(), Math.min(retryAfterMs ?? 0, LONGEST_RETRY_MS));
    this.#options.log.debug({ reason, wait }, 'The relay session ended.');
    this.#options.onAway(reason);
    if (this.#address !== undefined) this.#retry = setTimeout(() => this.#connect(), wait);
  }

  #end(reason: string): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const session = this.#session;
    this.#session = undefined;
    this.#reason = reason;
    if (this.#address === undefined) {
      clearInterval(this.#ticker);
      this.#ticker = undefined;
    }
    if (session === undefined) return;
    if (session.client.state === 'ready') session.outbox.send(session.client.bye());
    session.socket.destroySoon();
    this.#options.onAway(reason);
  }
}

/** As the host's own addresses are written; a socket of both families has IPv4 ones in those of IPv6. */
function canonical(address = ''): string {
  return address.replace(/^::ffff:/, '');
}

function where({ host, port, secure }: RelayAddress): string {
  return `${secure} ${host} ${port}`;
}
