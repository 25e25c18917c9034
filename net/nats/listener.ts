import { randomBytes } from 'node:crypto';
import { createServer, type Server, type Socket } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import { streams } from '../../platform/platform.ts';
import { Broker } from './broker.ts';
import { ClientConnection, LINGER_MS } from './client-connection.ts';
import type { Delivery } from './commands.ts';
import type { Limits } from './limits.ts';
import type { Session } from './session.ts';
import { steadyNow } from './steady-clock.ts';

export interface ListenerOptions {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly auth: 'open' | 'token';
  /** PEM texts; with them clients upgrade to TLS after INFO. They must where a credential travels, else they may. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly limits?: Partial<Limits>;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Milliseconds between looks at pings and deadlines. */
const TICK_MS = 1_000;
/** Milliseconds between looks at held-back publishers, only while there are any. */
const STALL_TICK_MS = 10;
/** Milliseconds a client has for its TLS handshake, as in nats-server. */
const TLS_HANDSHAKE_MS = 2_000;
/** The first byte of a TLS handshake (RFC 8446, 5.1); no operation of NATS begins with it. */
const TLS_HANDSHAKE = 0x16;
/** Milliseconds between the steps of a lame duck. */
const LAME_DUCK_STEP_MS = 50;
/** Bytes of the read buffer: what libuv reads at most at once. */
const READ_BUFFER_BYTES = 65_536;
/** Connections waiting for accept; thousands of nodes come back at once after a restart. */
const BACKLOG = 4_096;

/** The broker on a TCP port. Deliveries to the control plane's own subscriptions go to `onDeliveries`. */
export class NatsListener {
  readonly broker: Broker;
  readonly control: Session;
  readonly #options: ListenerOptions;
  readonly #onDeliveries: (deliveries: readonly Delivery[]) => void;
  readonly #secureContext: SecureContext | undefined;
  readonly #connections = new Map<number, ClientConnection>();
  readonly #readBuffer = new Uint8Array(READ_BUFFER_BYTES);
  #server: Server | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #stallTimer: NodeJS.Timeout | undefined;
  #flushScheduled = false;
  #stopped: (() => void) | undefined;

  constructor(options: ListenerOptions, onDeliveries: (deliveries: readonly Delivery[]) => void = () => {}) {
    this.#options = options;
    this.#onDeliveries = onDeliveries;
    const { host, port, auth, tls, limits } = options;
    const serverId = `M${randomBytes(20).toString('hex').toUpperCase()}`;
    this.broker = new Broker({
      serverId,
      auth,
      host,
      port,
      ...(tls && { tls: auth === 'token' ? 'required' : 'available' }),
      relieve: () => this.flush(),
      ...(limits && { limits }),
    });
    this.control = this.broker.connectControl(steadyNow());
    this.#secureContext = tls && createSecureContext(tls);
  }

  async start(): Promise<Address> {
    const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => this.#accept(socket));
    this.#server = server;
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, backlog: BACKLOG }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#ticker = setInterval(() => {
      this.broker.tick(steadyNow());
      this.flush();
    }, TICK_MS);
    const address = server.address();
    return { host, port: typeof address === 'object' && address !== null ? address.port : port };
  }

  /** Ends every connection and the port. Idempotent. */
  async stop(): Promise<void> {
    this.#server?.close();
    this.#server = undefined;
    clearInterval(this.#ticker);
    this.broker.closeSome(Number.POSITIVE_INFINITY, steadyNow());
    this.flush();
    await this.#allClosed(LINGER_MS);
    clearTimeout(this.#stallTimer);
  }

  /** Stops accepting, tells clients to move, then ends their connections evenly over the given time. */
  async lameDuck(durationMs: number): Promise<void> {
    this.#server?.close();
    this.#server = undefined;
    this.broker.lameDuck(steadyNow());
    this.flush();
    const steps = Math.max(1, Math.floor(durationMs / LAME_DUCK_STEP_MS));
    const share = Math.ceil(this.#connections.size / steps);
    await new Promise<void>((resolve) => {
      const step = setInterval(() => {
        const left = this.broker.closeSome(share, steadyNow());
        this.flush();
        if (left > 0) return;
        clearInterval(step);
        resolve();
      }, LAME_DUCK_STEP_MS);
    });
    await this.stop();
  }

  /** Bytes from the control plane, in the words of the protocol. */
  handleControl(bytes: Uint8Array): void {
    this.broker.handle(this.control, bytes, steadyNow());
    this.#schedule();
  }

  /** Does what the broker has decided. */
  flush(): void {
    this.#flushScheduled = false;
    const deliveries: Delivery[] = [];
    for (const command of this.broker.takeCommands()) {
      if (command.kind === 'deliver') {
        deliveries.push(command.delivery);
        continue;
      }
      const connection = this.#connections.get(command.session.id);
      if (connection === undefined) continue;
      switch (command.kind) {
        case 'write':
          connection.write();
          break;
        case 'close':
          connection.close(command.cut);
          break;
        case 'pause':
          connection.socket.pause();
          break;
        case 'resume':
          connection.socket.resume();
          break;
        default:
          command satisfies never;
      }
    }
    if (deliveries.length > 0) this.#onDeliveries(deliveries);
    if (this.broker.stalls > 0) this.#watchStalls();
  }

  #accept(accepted: Socket): void {
    const session = this.broker.connect(steadyNow(), accepted.remoteAddress);
    const connection = new ClientConnection(session, accepted, this.broker, () => this.#schedule());
    this.#connections.set(session.id, connection);
    if (this.#secureContext === undefined) {
      connection.socket = streams.read(accepted, this.#readBuffer, (bytes) => this.#received(session, bytes));
      this.#follow(connection);
    } else this.#greet(connection, accepted, this.#secureContext);
    this.#schedule();
  }

  /** INFO goes in clear; until it is known how the client goes on, the session's writes wait. */
  #greet(connection: ClientConnection, accepted: Socket, secureContext: SecureContext): void {
    const { session } = connection;
    const info = this.broker.take(session, steadyNow());
    if (info !== undefined) accepted.write(info.bytes);
    const proceed = () => {
      if (info !== undefined) this.broker.written(session, info);
      this.#schedule();
    };
    if (this.#options.auth === 'token') {
      accepted.once('error', () => accepted.destroy());
      this.#upgrade(connection, accepted, secureContext, proceed);
      return;
    }
    this.#follow(connection);
    onFirstBytes(accepted, (isTls) => {
      if (isTls) {
        this.#upgrade(connection, accepted, secureContext, proceed);
        return;
      }
      accepted.on('data', (bytes: Uint8Array) => this.#received(session, bytes));
      proceed();
    });
  }

  #upgrade(connection: ClientConnection, accepted: Socket, secureContext: SecureContext, proceed: () => void): void {
    const { session } = connection;
    const secure = new TLSSocket(accepted, { isServer: true, secureContext });
    connection.socket = secure;
    const timer = setTimeout(() => secure.destroy(), TLS_HANDSHAKE_MS);
    secure.once('secure', () => {
      clearTimeout(timer);
      proceed();
    });
    secure.once('close', () => clearTimeout(timer));
    secure.on('data', (bytes: Uint8Array) => this.#received(session, bytes));
    this.#follow(connection);
  }

  #follow(connection: ClientConnection): void {
    const { socket, session } = connection;
    // The error does not matter: 'close' follows.
    socket.on('error', () => {});
    socket.on('end', () => {
      // Requests that came before the end are still answered.
      this.flush();
      socket.end();
    });
    socket.on('close', () => {
      connection.closed();
      this.#connections.delete(session.id);
      this.broker.disconnect(session, steadyNow());
      this.#schedule();
      if (this.#connections.size === 0) this.#stopped?.();
    });
  }

  #received(session: Session, bytes: Uint8Array): void {
    this.broker.handle(session, bytes, steadyNow());
    this.#schedule();
  }

  #schedule(): void {
    if (this.#flushScheduled) return;
    this.#flushScheduled = true;
    setImmediate(() => this.flush());
  }

  #watchStalls(): void {
    this.#stallTimer ??= setTimeout(() => {
      this.#stallTimer = undefined;
      this.broker.tickStalls(steadyNow());
      this.flush();
    }, STALL_TICK_MS);
  }

  async #allClosed(deadlineMs: number): Promise<void> {
    if (this.#connections.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#stopped = resolve;
      setTimeout(() => {
        for (const { socket } of this.#connections.values()) socket.destroy();
        resolve();
      }, deadlineMs).unref();
    });
  }
}

/** Tells by the first bytes of a client whether it upgrades to TLS or goes on in clear; they are read again afterwards. */
function onFirstBytes(socket: Socket, decide: (isTls: boolean) => void): void {
  const look = () => {
    const bytes = socket.read() as Uint8Array | null;
    if (bytes === null) return;
    socket.off('readable', look);
    socket.unshift(bytes);
    decide(bytes[0] === TLS_HANDSHAKE);
  };
  socket.on('readable', look);
}
