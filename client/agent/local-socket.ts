import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import path from 'node:path';
import { Duplex, pipeline } from 'node:stream';
import type { Log } from '../../core/base/ports.ts';
import { anything, exact, type Infer, ifIs, integer, json, object, oneOf, text } from '../../core/base/shape.ts';
import { makePrivateDirectory } from '../enrol/private-file.ts';

/**
 * How commands talk to the agent of this machine: a socket that only the agent's own user may open, one JSON line each way.
 *
 *     {"ask":"status"}                  {"answer":{…}}
 *     {"ask":"hurry","peer":"web"}      {"error":"no peer web"}
 *
 * After the answer to `connect` the socket is the connection; `serve` and `forward` (of UDP alone) last until their socket closes, `watch`
 * until the agent ends.
 */
const plainShape = exact(object({ ask: oneOf('status', 'rotate-key', 'open-firewall', 'down') }));
const hurryShape = exact(object({ ask: oneOf('hurry'), peer: text(64) }));
const port = integer(1, 65_535);
const connectShape = exact(object({ ask: oneOf('connect'), address: text(64), port }));
const serveShape = exact(
  object({ ask: oneOf('serve'), port, host: text(253), toPort: port }, { protocol: oneOf('UDP') }),
);
const forwardShape = exact(object({ ask: oneOf('forward'), local: integer(0, 65_535), address: text(64), port }));
const watchShape = exact(object({ ask: oneOf('watch') }));
const pingShape = exact(object({ ask: oneOf('ping'), address: text(64), bytes: integer(0, 65_535) }));
const SHAPES = [plainShape, hurryShape, connectShape, serveShape, forwardShape, watchShape, pingShape].map((shape) =>
  json<LocalRequest>(shape),
);
const answerShape = object({}, { answer: anything, error: text(65_536) });

export type StreamRequest =
  | Infer<typeof connectShape>
  | Infer<typeof serveShape>
  | Infer<typeof forwardShape>
  | Infer<typeof watchShape>;
export type LocalRequest =
  | Infer<typeof plainShape>
  | Infer<typeof hurryShape>
  | Infer<typeof pingShape>
  | StreamRequest;

/** The address of a unix socket has 107 bytes. */
const MAX_PATH_BYTES = 107;
const MAX_REQUEST_BYTES = 4_096;
/** A status of 20,000 peers is some 10 MB. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;
const MAX_CONNECTIONS = 256;
const REQUEST_MS = 5_000;
const ANSWER_MS = 30_000;

/** No agent listens there. */
export class NoAgent extends Error {
  override readonly name = 'NoAgent';
}

/** In the configuration directory, unless its path is too long for a socket. */
export function localSocketPath(directory: string): string {
  const name = path.join(directory, 'agent.sock');
  if (Buffer.byteLength(name) <= MAX_PATH_BYTES) return name;
  return `/var/run/mesh/${createHash('sha256').update(directory).digest('hex').slice(0, 32)}.sock`;
}

/** @param ended aborted once the one that asks is gone @returns the answer; for `connect` a connection that is under way */
type Handler = (request: LocalRequest, ended: AbortSignal) => Promise<unknown>;

/** Answers requests until it is closed. Whatever arrives, it neither throws nor grows. */
export async function serveLocally(name: string, handle: Handler, log: Log): Promise<{ close(): Promise<void> }> {
  makePrivateDirectory(path.dirname(name));
  // Left by an agent that was killed: the lock says that none runs.
  rmSync(name, { force: true });
  /** Sockets that stay open after their answer. */
  const lasting = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('close', () => lasting.delete(socket));
    void serve(socket, handle, log, () => lasting.add(socket));
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // It is made within the call, by nobody's mode but this one: a change afterwards could follow a link.
    const umask = process.umask(0o177);
    server.listen(name, resolve);
    process.umask(umask);
  });
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of lasting) socket.destroy();
        rmSync(name, { force: true });
      }),
  };
}

async function serve(socket: Socket, handle: Handler, log: Log, onLasting: () => void): Promise<void> {
  socket.on('error', () => {});
  const ended = new AbortController();
  socket.on('close', () => ended.abort());
  const timer = setTimeout(() => socket.destroy(), REQUEST_MS);
  try {
    const line = await readLine(socket, MAX_REQUEST_BYTES);
    clearTimeout(timer);
    const request = SHAPES.map((shape) => ifIs(shape, line)).find((one) => one !== undefined);
    if (!request) throw new Error('this agent knows no such request');
    const answer = await handle(request, ended.signal);
    const isHeld = request.ask === 'serve' || request.ask === 'forward' || request.ask === 'watch';
    if (answer instanceof Duplex || isHeld) onLasting();
    if (answer instanceof Duplex) await pass(socket, answer);
    else if (isHeld) hold(socket, answer);
    else socket.end(`${JSON.stringify({ answer })}\n`);
  } catch (error) {
    log.debug({ error: String(error) }, 'a request on the local socket was refused');
    socket.end(`${JSON.stringify({ error: (error as Error).message })}\n`);
  } finally {
    clearTimeout(timer);
  }
}

/** Passes bytes between a socket and a connection once it is there. @throws Error where it does not come about */
async function pass(socket: Socket, connection: Duplex): Promise<void> {
  const giveUp = () => connection.destroy();
  socket.once('close', giveUp);
  await once(connection, 'connect');
  socket.off('close', giveUp);
  socket.write('{"answer":{}}\n');
  pipeline(socket, connection, socket, () => {});
}

/** Answers, and keeps the socket until the other side closes it. */
function hold(socket: Socket, answer: unknown): void {
  socket.write(`${JSON.stringify({ answer })}\n`);
  socket.on('end', () => socket.end());
  socket.resume();
}

/** Asks the agent for something that lasts. @returns the socket once the agent has agreed @throws as `askAgent` */
export async function openAgentStream(name: string, request: StreamRequest): Promise<Socket> {
  return (await openHeld(name, request)).socket;
}

/** As `openAgentStream`. @returns the agent's answer too */
export async function openHeld(name: string, request: StreamRequest): Promise<{ socket: Socket; answer: unknown }> {
  const socket = createConnection({ path: name, allowHalfOpen: true });
  try {
    socket.write(`${JSON.stringify(request)}\n`);
    const { answer, error } = json(answerShape)(await readLine(socket, MAX_REQUEST_BYTES));
    if (error !== undefined) throw new Error(error);
    return { socket, answer };
  } catch (error) {
    socket.destroy();
    throw asNoAgent(error, name);
  }
}

/** Resolves once the agent has ended what it held. */
export function untilClosed(socket: Socket): Promise<unknown> {
  socket.resume();
  socket.on('end', () => socket.destroy());
  return once(socket, 'close');
}

function asNoAgent(error: unknown, name: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const isAway = code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED';
  return isAway ? new NoAgent(`No agent runs here (${name}).`) : error;
}

/** Asks the agent. @throws NoAgent when none runs, Error with its own words when it refuses */
export async function askAgent(
  name: string,
  request: LocalRequest,
  until: AbortSignal = AbortSignal.timeout(ANSWER_MS),
): Promise<unknown> {
  const socket = createConnection(name);
  const giveUp = () => socket.destroy(new Error('the agent does not answer'));
  until.addEventListener('abort', giveUp);
  if (until.aborted) giveUp();
  try {
    socket.write(`${JSON.stringify(request)}\n`);
    const { answer, error } = json(answerShape)(await readLine(socket, MAX_ANSWER_BYTES));
    if (error !== undefined) throw new Error(error);
    return answer;
  } catch (error) {
    throw asNoAgent(error, name);
  } finally {
    until.removeEventListener('abort', giveUp);
    socket.destroy();
  }
}

/** Reads one line; bytes behind it stay in the socket. */
function readLine(socket: Socket, limit: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  const isClosed = () => reject(new Error('the line was broken off'));
  const take = (chunk: Uint8Array) => {
    const end = chunk.indexOf(10);
    chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
    bytes += chunk.length;
    if (end >= 0) {
      socket.off('data', take).pause();
      if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1));
      resolve(Buffer.concat(chunks).toString());
    } else if (bytes > limit) socket.destroy(new Error(`more than ${limit} bytes in a line`));
  };
  socket.once('error', reject).once('close', isClosed).on('data', take);
  return promise.finally(() => socket.off('error', reject).off('close', isClosed));
}
