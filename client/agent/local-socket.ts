import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createConnection, createServer, type Socket } from 'node:net';
import path from 'node:path';
import type { Log } from '../../core/base/ports.ts';
import { anything, exact, type Infer, ifIs, json, object, oneOf, text } from '../../core/base/shape.ts';
import { makePrivateDirectory } from '../enrol/private-file.ts';

/**
 * How commands talk to the agent of this machine: a socket that only the agent's own user may open, one JSON line each way.
 *
 *     {"ask":"status"}                  {"answer":{…}}
 *     {"ask":"hurry","peer":"web"}      {"error":"no peer web"}
 */
const plainShape = exact(object({ ask: oneOf('status', 'rotate-key', 'open-firewall', 'down') }));
const hurryShape = exact(object({ ask: oneOf('hurry'), peer: text(64) }));
const answerShape = object({}, { answer: anything, error: text(65_536) });

export type LocalRequest = Infer<typeof plainShape> | Infer<typeof hurryShape>;

/** The address of a unix socket has 107 bytes. */
const MAX_PATH_BYTES = 107;
const MAX_REQUEST_BYTES = 4_096;
/** A status of 20,000 peers is some 10 MB. */
const MAX_ANSWER_BYTES = 64 * 1_048_576;
const MAX_CONNECTIONS = 16;
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

/** Answers requests until it is closed. Whatever arrives, it neither throws nor grows. */
export async function serveLocally(
  name: string,
  handle: (request: LocalRequest) => Promise<unknown>,
  log: Log,
): Promise<{ close(): Promise<void> }> {
  makePrivateDirectory(path.dirname(name));
  // Left by an agent that was killed: the lock says that none runs.
  rmSync(name, { force: true });
  const server = createServer((socket) => void serve(socket, handle, log));
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
        rmSync(name, { force: true });
      }),
  };
}

async function serve(socket: Socket, handle: (request: LocalRequest) => Promise<unknown>, log: Log): Promise<void> {
  socket.on('error', () => {});
  const timer = setTimeout(() => socket.destroy(), REQUEST_MS);
  try {
    const line = await readLine(socket, MAX_REQUEST_BYTES);
    clearTimeout(timer);
    const request = ifIs(json(plainShape), line) ?? ifIs(json(hurryShape), line);
    if (!request) throw new Error('this agent knows no such request');
    socket.end(`${JSON.stringify({ answer: await handle(request) })}\n`);
  } catch (error) {
    log.debug({ error: String(error) }, 'a request on the local socket was refused');
    socket.end(`${JSON.stringify({ error: (error as Error).message })}\n`);
  } finally {
    clearTimeout(timer);
  }
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
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED')
      throw new NoAgent(`No agent runs here (${name}).`);
    throw error;
  } finally {
    until.removeEventListener('abort', giveUp);
    socket.destroy();
  }
}

function readLine(socket: Socket, limit: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the line was broken off')));
    socket.on('data', (chunk: Uint8Array) => {
      const end = chunk.indexOf(10);
      chunks.push(end < 0 ? chunk : chunk.subarray(0, end));
      bytes += chunk.length;
      if (end >= 0) {
        socket.removeAllListeners('data').pause();
        resolve(Buffer.concat(chunks).toString());
      } else if (bytes > limit) socket.destroy(new Error(`more than ${limit} bytes in a line`));
    });
  });
}
