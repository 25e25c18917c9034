import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { MeshError, toProblem } from '../core/base/errors.ts';
import { problemHeaders } from './problem.ts';

export interface ListenOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** PEM. */
  readonly tls?: { readonly cert: string | Buffer; readonly key: string | Buffer };
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  readonly url: string;
  /** Takes no more requests, lets those under way finish for `graceMs`, then cuts. Idempotent. */
  stop(graceMs?: number): Promise<void>;
}

/** A sender that trickles its headers or body loses the connection (slow loris). */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CHECK_INTERVAL_MS = 5_000;
/** Above the idle time of common load balancers (60 s), so that they never write into a closed connection. */
const KEEP_ALIVE_MS = 65_000;
const MAX_HEADER_BYTES = 16_384;
const MAX_CONNECTIONS = 10_000;
const STOP_GRACE_MS = 3_000;

/** Serves a request listener on a hardened HTTP or HTTPS server. */
export async function listen(app: RequestListener, { host, port, tls }: ListenOptions): Promise<Listening> {
  const limits = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const server: Server = tls
    ? createTlsServer({ ...limits, ...tls, minVersion: 'TLSv1.2' }, app)
    : createServer(limits, app);
  server.maxConnections = MAX_CONNECTIONS;
  server.on('clientError', refuseMalformed);
  server.listen(port, host);
  await once(server, 'listening');
  const bound = server.address() as AddressInfo;
  const shown = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  let stopped: Promise<void> | undefined;
  return {
    host: bound.address,
    port: bound.port,
    url: `${tls ? 'https' : 'http'}://${shown}:${bound.port}`,
    stop(graceMs = STOP_GRACE_MS) {
      stopped ??= stop(server, graceMs);
      return stopped;
    },
  };
}

async function stop(server: Server, graceMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(cut);
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
