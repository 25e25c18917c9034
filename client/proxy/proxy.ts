import { createServer, type Socket } from 'node:net';
import type { Log } from '../../core/base/ports.ts';
import { formatHostPort, type HostPort } from '../../net/host-port.ts';
import { PROXY_USER, type ProxyCredential } from './credential.ts';
import type { Destinations } from './destinations.ts';
import { httpProxy } from './http.ts';
import { SOCKS_VERSION, serveSocks } from './socks.ts';

/** A connection whose request is not whole within this is closed: the handshake of SOCKS, the headers of HTTP. */
const REQUEST_MS = 10_000;
const MAX_CONNECTIONS = 1_024;

export interface ProxyOptions {
  readonly listen: HostPort;
  readonly destinations: Destinations;
  /** Left out: any program of this host may use it. */
  readonly credential?: ProxyCredential;
  readonly log: Log;
  /** Longest time for a whole request. */
  readonly requestMs?: number;
}

export interface ProxyStatus {
  /** `127.0.0.1:1055` */
  readonly address: string;
  /** Both null where it asks for none. */
  readonly user: string | null;
  readonly password: string | null;
}

export interface RunningProxy {
  readonly status: ProxyStatus;
  close(): Promise<void>;
}

/** Listens for SOCKS5, CONNECT and plain HTTP on one port: another one than asked for where that is in use. */
export async function startProxy(options: ProxyOptions): Promise<RunningProxy> {
  const { listen, destinations, credential, log, requestMs = REQUEST_MS } = options;
  /** With the timer that ends them while a request is awaited. */
  const sockets = new Map<Socket, NodeJS.Timeout>();
  const awaitRequest = (socket: Socket) => {
    if (!socket.destroyed)
      sockets.set(
        socket,
        setTimeout(() => socket.destroy(), requestMs),
      );
  };
  const requested = (socket: Socket) => clearTimeout(sockets.get(socket));
  const http = httpProxy(destinations, credential);
  // Node's own limits are those of a server that listens by itself.
  http.on('request', ({ socket }, response) => {
    requested(socket);
    response.once('close', () => awaitRequest(socket));
  });
  http.on('connect', ({ socket }) => requested(socket));
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    awaitRequest(socket);
    socket.on('close', () => {
      requested(socket);
      sockets.delete(socket);
    });
    socket.on('error', () => {});
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return;
      socket.unshift(first);
      if (first[0] !== SOCKS_VERSION) http.emit('connection', socket);
      else {
        serveSocks(socket, destinations, credential, () => requested(socket)).catch((error: unknown) => {
          log.debug({ error: String(error) }, 'a connection to the proxy ended early');
          socket.destroy();
        });
      }
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  const port = await listening(server, listen);
  if (listen.port !== 0 && port !== listen.port)
    log.warn({ port }, `port ${listen.port} of ${listen.host} is in use: the proxy has another one`);
  return {
    status: {
      address: formatHostPort(listen.host, port),
      user: credential ? PROXY_USER : null,
      password: credential?.password ?? null,
    },
    async close() {
      for (const socket of sockets.keys()) socket.destroy();
      http.close();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

async function listening(server: ReturnType<typeof createServer>, { host, port }: HostPort): Promise<number> {
  for (const wanted of [port, 0]) {
    const error = await new Promise<NodeJS.ErrnoException | undefined>((resolve) => {
      server.once('error', resolve);
      server.listen(wanted, host, () => {
        server.off('error', resolve);
        resolve(undefined);
      });
    });
    if (error?.code === 'EADDRINUSE' && wanted !== 0) continue;
    if (error) throw error;
    break;
  }
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
