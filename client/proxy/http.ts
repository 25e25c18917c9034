import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import { type Duplex, pipeline, type Transform } from 'node:stream';
import { isPort, parseHostPort } from '../../net/host-port.ts';
import { isPassword, type ProxyCredential } from './credential.ts';
import { ProxyRefusal, type RefusalCode } from './destinations.ts';

const HTTP_PORT = 80;
const CHALLENGE = { 'Proxy-Authenticate': 'Basic realm="mesh"' } as const;
const NO_PASSWORD = 'This proxy asks for a password, which the status of the node has with --json.';
const NOT_A_PROXY_REQUEST = 'This is a proxy: name it as one, such as curl --proxy.';

const STATUS_OF: Readonly<Record<RefusalCode, number>> = {
  down: 503,
  outside: 403,
  policy: 403,
  refused: 502,
  unreachable: 504,
};

/** Headers of one connection alone (RFC 9110, 7.6.1). */
const OF_THE_CONNECTION = [
  ...['connection', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te', 'trailer', 'upgrade'],
  'transfer-encoding',
];

/** The places that a proxy opens connections to. */
export interface ProxyTargets {
  /**
   * @param isTunnel true for CONNECT, false for a plain request
   * @param gone aborted once the program has closed its connection
   * @throws ProxyRefusal with the reason
   */
  open(host: string, port: number, isTunnel: boolean, gone: AbortSignal): Promise<Duplex>;
  /** Returns a stream that passes on what a program sends through a tunnel, or ends the tunnel with an error. */
  examine?(host: string, port: number): Transform;
}

/**
 * A server for connections that are handed to it (`connection`): CONNECT, and plain requests in the form of a proxy. Requests in
 * any other form, which a web page could make, are refused.
 */
export function httpProxy(destinations: ProxyTargets, credential: ProxyCredential | undefined): Server {
  const server = createServer((incoming, response) => {
    const refusal = refusalOf(incoming, credential, isAbsolute(incoming));
    if (refusal) return answer(response, refusal);
    void forward(incoming, response, destinations).catch((error: unknown) => answer(response, failureOf(error)));
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => {});
    const target = parseHostPort(incoming.url ?? '');
    const refusal = refusalOf(incoming, credential, target !== undefined && isPort(target.port));
    if (refusal || !target) return answerPlainly(socket, refusal ?? { status: 400, text: NOT_A_PROXY_REQUEST });
    destinations.open(target.host, target.port, true, closeOf(socket)).then(
      (stream) => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket.unshift(head);
        const examined = destinations.examine?.(target.host, target.port);
        pipeline([socket, ...(examined ? [examined] : []), stream, socket], () => {});
      },
      (error: unknown) => answerPlainly(socket, failureOf(error)),
    );
  });
  return server;
}

interface Refusal {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The form first: a web page learns nothing about the password. */
function refusalOf(
  { headers }: IncomingMessage,
  credential: ProxyCredential | undefined,
  isInForm: boolean,
): Refusal | undefined {
  if (!isInForm) return { status: 400, text: NOT_A_PROXY_REQUEST };
  if (!credential || isPassword(passwordIn(headers['proxy-authorization']), credential)) return undefined;
  return { status: 407, text: NO_PASSWORD, headers: CHALLENGE };
}

function passwordIn(header = ''): string {
  const [scheme = '', encoded = ''] = header.split(' ');
  if (scheme.toLowerCase() !== 'basic') return '';
  const pair = Buffer.from(encoded, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

function isAbsolute({ url = '' }: IncomingMessage): boolean {
  return URL.parse(url)?.protocol === 'http:';
}

async function forward(incoming: IncomingMessage, response: ServerResponse, destinations: ProxyTargets): Promise<void> {
  const url = new URL(incoming.url ?? '');
  const port = url.port === '' ? HTTP_PORT : Number(url.port);
  const stream = await destinations.open(url.hostname.replace(/^\[(.*)\]$/, '$1'), port, false, closeOf(response));
  const headers: IncomingHttpHeaders = { ...incoming.headers, host: url.host, connection: 'close' };
  for (const name of OF_THE_CONNECTION) if (name !== 'connection') delete headers[name];
  // Whatever the method: a body without framing would be the next request to the destination.
  if (incoming.headers['transfer-encoding'] !== undefined) headers['transfer-encoding'] = 'chunked';
  const outgoing = request({
    method: incoming.method,
    path: `${url.pathname}${url.search}`,
    headers,
    createConnection: () => stream,
  });
  outgoing.on('error', (error) => {
    stream.destroy();
    answer(response, failureOf(error));
  });
  outgoing.on('response', (upstream) => {
    const passed = { ...upstream.headers };
    for (const name of OF_THE_CONNECTION) delete passed[name];
    response.writeHead(upstream.statusCode ?? 502, passed);
    pipeline(upstream, response, () => stream.destroy());
  });
  pipeline(incoming, outgoing, () => {});
}

function closeOf(connection: Duplex | ServerResponse): AbortSignal {
  const gone = new AbortController();
  if (connection.destroyed) gone.abort();
  else connection.once('close', () => gone.abort());
  return gone.signal;
}

function failureOf(error: unknown): Refusal {
  if (error instanceof ProxyRefusal) return { status: STATUS_OF[error.code], text: error.message };
  return { status: 502, text: `The connection broke: ${(error as Error).message}` };
}

function answer(response: ServerResponse, { status, text, headers }: Refusal): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close', ...headers }).end(`${text}\n`);
}

function answerPlainly(socket: Duplex, { status, text, headers = {} }: Refusal): void {
  const lines = Object.entries({ 'Content-Type': 'text/plain', Connection: 'close', ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${text}\n`);
}
