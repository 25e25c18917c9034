import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { isLoopback } from '../core/base/loopback.ts';
import type { ConnectionLimits } from './connection-quotas.ts';
import { trackConnections } from './connection-tracker.ts';
import { problemHeaders, sendProblem } from './problem.ts';
import { securityHeaders } from './security-headers.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** PEM. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** Addresses that many callers may connect from, which have no limit of their own; those of this machine unless set. */
  readonly isShared?: (address: string) => boolean;
  readonly connections?: ConnectionLimits;
  /** Told of each connection that is accepted. */
  readonly onConnection?: () => void;
}

export interface HttpListener {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /**
   * Answers new requests with 503 and lets those under way finish, each with `Connection: close`; after a moment it takes no
   * more connections and closes the idle ones. Resolves when none is left, or after `graceMs`. Idempotent.
   */
  drain(graceMs: number): Promise<void>;
  /** Drains, for `graceMs` at most, then cuts what is left. Idempotent. */
  stop(graceMs?: number): Promise<void>;
}

/** A sender that trickles its headers or body loses the connection (slow loris). */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CHECK_INTERVAL_MS = 5_000;
/** Above the idle time of common load balancers (60 s), so that they never write into a closed connection. */
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16_384;
/** Connections in all, and of one source: as many as the bus allows strangers behind one address. */
const CONNECTIONS: ConnectionLimits = { total: 10_000, perSource: 1_024 };
const TLS_HANDSHAKE_MS = 10_000;
const STOP_GRACE_MS = 3_000;
/** So long whoever is in the middle of asking, or of connecting, is told that the end has begun, instead of cut off. */
const TELLING_MS = 250;

/** On one response. A pipeline into it listens seven times, and each part that a stream keeps open once. */
const MOST_LISTENERS = 20;

/** Serves a request listener on a hardened HTTP or HTTPS server. */
export async function listen(app: RequestListener, options: ListenOptions): Promise<HttpListener> {
  const { host, port, tls, isShared = isLoopback, connections = CONNECTIONS, onConnection } = options;
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const underWay = new Set<ServerResponse>();
  let isDraining = false;
  let isClosing = false;
  const serve: RequestListener = (request, response) => {
    // Nobody is there any more who could be told what became of it.
    if (request.socket.destroyed) return;
    if (isDraining) {
      refuseToBegin(request, response);
      return;
    }
    response.setMaxListeners(MOST_LISTENERS);
    underWay.add(response);
    held.begun(request);
    const { socket } = request;
    // Whoever reads a stream and closes their own direction has gone; others may have sent all and wait for the answer.
    const leave = () => {
      if (response.headersSent) socket.destroy();
    };
    socket.once('end', leave);
    response.once('close', () => {
      socket.off('end', leave);
      held.answered(request);
      underWay.delete(response);
      // A stream ends without `Connection: close`.
      if (isClosing) setImmediate(() => server.closeIdleConnections());
    });
    app(request, response);
  };
  const server: Server = tls
    ? createTlsServer({ ...limits, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: TLS_HANDSHAKE_MS }, serve)
    : createServer(limits, serve);
  Object.assign(server, { httpAllowHalfOpen: true });
  const held = trackConnections(server, connections, isShared);
  server.on('clientError', refuseMalformed);
  if (onConnection) server.on('connection', () => onConnection());
  server.listen(port, host);
  await once(server, 'listening');
  const bound = server.address() as AddressInfo;
  const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  const closed = once(server, 'close');
  let stopped: Promise<void> | undefined;

  function close(): void {
    if (isClosing) return;
    isClosing = true;
    server.close();
    server.closeIdleConnections();
  }

  async function drain(graceMs: number): Promise<void> {
    if (!isDraining) {
      isDraining = true;
      // A response that has sent its head already is a stream, or all but sent.
      for (const response of underWay) if (!response.headersSent) response.setHeader('Connection', 'close');
      // Behind the timers, so that what has arrived by then is read first.
      setTimeout(() => setImmediate(close), TELLING_MS);
    }
    const cut = new AbortController();
    await Promise.race([closed, after(graceMs, undefined, { signal: cut.signal }).catch(() => undefined)]);
    cut.abort();
  }

  async function stop(graceMs: number): Promise<void> {
    await drain(graceMs);
    close();
    server.closeAllConnections();
    await closed;
  }

  return {
    host: bound.address,
    port: bound.port,
    url: `${tls ? 'https' : 'http'}://${shown}:${bound.port}`,
    drain,
    stop(graceMs = STOP_GRACE_MS) {
      stopped ??= stop(graceMs);
      return stopped;
    },
  };
}

/** A request that came after the end began; nothing of it was done. */
function refuseToBegin(request: IncomingMessage, response: ServerResponse): void {
  const instance = (request.url ?? '').split('?', 1)[0] ?? '';
  const why = 'The control plane is stopping: nothing was done. Send this again in a moment.';
  const problem = toProblem(new MeshError('unavailable', why, { retryAfterSeconds: 1 }), { instance });
  // A connection that is closed with something unread in it is reset, and the answer may be lost with it.
  request.once('end', () => sendProblem(response, problem, ['Connection', 'close', ...securityHeaders()])).resume();
}

/** Bytes that are no HTTP request get a problem, as every other mistake does. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Pick<Socket, 'writable' | 'end' | 'destroy'>): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = toProblem(new MeshError('invalid_input', malformedDetail(error.code)));
  const body = JSON.stringify(problem);
  const lines = ['HTTP/1.1 400 Bad Request', 'Connection: close', `Content-Length: ${Buffer.byteLength(body)}`];
  const headers = problemHeaders(problem);
  for (let index = 0; index < headers.length; index += 2) lines.push(`${headers[index]}: ${headers[index + 1]}`);
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
}

function malformedDetail(code: string | undefined): string {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return `The headers are larger than ${MAX_HEADER_BYTES} bytes.`;
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 'The request took too long to arrive.';
    default:
      return 'This is no well-formed HTTP/1.1 request.';
  }
}
