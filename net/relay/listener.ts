import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { Clock, Log } from '../../core/base/ports.ts';
import { streams } from '../../platform/platform.ts';
import { generateKeyPair } from '../seal/x25519.ts';
import { relayKeysOf } from './credential.ts';
import type { RelayLimits } from './limits.ts';
import type { Member } from './member.ts';
import type { RelayMetrics } from './metrics.ts';
import { RelayServer } from './server.ts';
import type { RelaySession } from './session.ts';

/** How often time limits are looked at; all of them are seconds or more. */
const TICK_MS = 1_000;
/** How long `stop` waits for clients to move. */
const DRAIN_MS = 2_000;

/** The most that one read takes. */
const READ_BUFFER_BYTES = 65_536;

export interface RelayListenerOptions {
  readonly host: string;
  readonly port: number;
  /** MESH_LRP_AUTH_TOKEN. */
  readonly token: string;
  readonly clock: Clock;
  readonly log?: Log;
  readonly tls?: { readonly cert: string | Uint8Array; readonly key: string | Uint8Array };
  readonly limits?: Partial<RelayLimits>;
  readonly drainMs?: number;
}

/** The relay's sockets. What arrives in one turn of the event loop leaves as one write for each receiver. */
export class RelayListener {
  readonly #options: RelayListenerOptions;
  readonly #relay: RelayServer;
  readonly #sockets = new Map<RelaySession, Socket>();
  /** All connections share this buffer: a new one for each read would keep the garbage collector busy. */
  readonly #readBuffer = new Uint8Array(READ_BUFFER_BYTES);
  #server: Server | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #isFlushing = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: RelayListenerOptions) {
    this.#options = options;
    this.#relay = new RelayServer({
      keys: relayKeysOf(options.token),
      keyPair: generateKeyPair(),
      random: randomBytes,
      ...(options.limits !== undefined && { limits: options.limits }),
    });
  }

  async start(): Promise<AddressInfo> {
    const { host, port, tls } = this.#options;
    const secureContext = tls && createSecureContext({ cert: asPem(tls.cert), key: asPem(tls.key) });
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) =>
      this.#accept(socket, secureContext),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, backlog: 1_024 }, resolve);
    });
    server.on('error', (error) => this.#options.log?.error({ err: error }, 'The relay listener failed.'));
    this.#server = server;
    this.#ticker = setInterval(() => this.#tick(), TICK_MS).unref();
    return server.address() as AddressInfo;
  }

  /** Tells clients to move, waits a moment for them to go, then closes. Idempotent. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    this.#relay.drain();
    this.#flush();
    await this.#untilEmpty(this.#options.drainMs ?? DRAIN_MS);
    for (const socket of this.#sockets.values()) socket.destroy();
    clearInterval(this.#ticker);
    await closed;
  }

  /** Ends the sessions of a key at once; `until` is when its last credential runs out. */
  revoke(member: Member, until: number): void {
    const ended = this.#relay.revoke(member, until, this.#options.clock.now());
    this.#options.log?.info({ ended }, 'A relay key was revoked.');
    this.#flush();
  }

  /** Lets a key in again that came back to the network. */
  allow(member: Member): void {
    this.#relay.allow(member);
  }

  metrics(): RelayMetrics {
    return this.#relay.metrics();
  }

  /** A connection counts from here on, and its time runs: one that says nothing is no cheaper for speaking TLS. */
  #accept(accepted: Socket, secureContext: SecureContext | undefined): void {
    const { clock } = this.#options;
    const session = this.#relay.open(accepted.remoteAddress ?? '', clock.now());
    const onBytes = (chunk: Uint8Array) => {
      this.#relay.receive(session, chunk, clock.now());
      this.#scheduleFlush();
    };
    const socket =
      secureContext === undefined
        ? streams.read(accepted, this.#readBuffer, onBytes)
        : new TLSSocket(accepted, { isServer: true, secureContext }).on('data', onBytes);
    this.#sockets.set(session, socket);
    // Resets and broken pipes are a client's everyday business; `close` follows.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#relay.close(session);
      this.#sockets.delete(session);
      if (this.#sockets.size === 0) this.#onEmpty?.();
    });
    this.#scheduleFlush();
  }

  #tick(): void {
    this.#relay.tick(this.#options.clock.now());
    this.#flush();
  }

  /** After all sockets that have something to read were read. */
  #scheduleFlush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    for (const session of this.#relay.takeDirty()) {
      const socket = this.#sockets.get(session);
      if (socket !== undefined) this.#write(session, socket);
    }
  }

  #write(session: RelaySession, socket: Socket): void {
    const pieces = session.outbox.take();
    const last = pieces.at(-1);
    const onWritten = (error?: Error | null) => {
      if (error) return;
      session.outbox.written();
      // Writes the frames that gathered meanwhile.
      if (!socket.destroyed) this.#write(session, socket);
    };
    socket.cork();
    for (const piece of pieces) socket.write(piece.bytes, piece === last ? onWritten : undefined);
    socket.uncork();
    if (session.closing === undefined || socket.writableEnded) return;
    this.#options.log?.debug({ reason: session.closing.reason }, 'A relay session ends.');
    // The bye may wait behind a batch that is being written; a client that reads nothing does not get it.
    if (!session.outbox.isWriting || last !== undefined) socket.end();
    setTimeout(() => socket.destroy(), this.#relay.limits.closeMs).unref();
  }

  async #untilEmpty(timeoutMs: number): Promise<void> {
    if (this.#sockets.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#onEmpty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function asPem(text: string | Uint8Array): string | Buffer {
  return typeof text === 'string' ? text : Buffer.from(text);
}
