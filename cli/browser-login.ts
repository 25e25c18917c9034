import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { isLoopbackUrl } from '../core/base/loopback.ts';
import { TEXT_LIMITS } from '../core/base/text.ts';
import { notice } from './answer.ts';
import { callApi } from './api.ts';
import { CliError, EXIT } from './exit.ts';
import { parseServer } from './session.ts';

export interface BrowserSession {
  readonly token: string;
  readonly expiresAt: string;
  readonly username: string;
  readonly passwordChangeRequired: boolean;
  readonly secondFactorRequired?: true;
}

interface Begun {
  readonly id: string;
  readonly page: string;
  readonly userCode?: string;
  readonly interval: number;
}

/** The control plane forgets a sign-in after so long. */
const WAIT_MS = 10 * 60_000;
const PATH = '/api/v1/users/login/command-line';
/** Codes of a control plane that has no public address, or does not know how to sign in by a browser. */
const WITHOUT_BROWSER = ['invalid_input', 'not_found', 'method_not_allowed'];
const OPENERS: Readonly<Record<string, string>> = { darwin: 'open', win32: 'explorer.exe' };

/** Returns true where a browser can be expected on this machine, for the person who sits there. */
export function hasBrowser(env = process.env, platform: string = process.platform): boolean {
  if (env['SSH_CONNECTION'] || env['SSH_TTY']) return false;
  return platform in OPENERS || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY']);
}

export interface BrowserLogin {
  readonly server: string;
  /** `device`: in a browser elsewhere, by a code that the person types. */
  readonly way: 'browser' | 'device';
  /** True where the person did not ask for this way, and can give a password. */
  readonly isOptional: boolean;
}

/**
 * Signs in by a page of the dashboard.
 *
 * @returns undefined where that is optional and no browser reaches the page
 * @throws CliError where it was denied, took too long, or was canceled
 */
export async function signInByBrowser(login: BrowserLogin): Promise<BrowserSession | undefined> {
  const { server, way, isOptional } = login;
  const verifier = randomBytes(32).toString('base64url');
  const canceled = new AbortController();
  const cancel = () => canceled.abort();
  process.once('SIGINT', cancel);
  const signal = AbortSignal.any([canceled.signal, AbortSignal.timeout(WAIT_MS)]);
  try {
    if (way === 'browser') return await byListener(server, verifier, signal);
    const begun = await begin(server, verifier);
    // From another machine nobody reaches that address.
    if (isOptional && isLoopbackUrl(begun.page)) return undefined;
    return await byCode(server, verifier, begun, signal);
  } catch (error) {
    if (canceled.signal.aborted) throw new CliError('Canceled: nobody is signed in.', EXIT.interrupted);
    if (signal.aborted)
      throw new CliError('Nobody allowed it within ten minutes. Try again: mesh login', EXIT.conflict);
    if (!isOptional || !(error instanceof CliError) || !WITHOUT_BROWSER.includes(String(error.code))) throw error;
    notice(`${error.message.split('\n')[0]} A password works all the same.`);
    return undefined;
  } finally {
    process.off('SIGINT', cancel);
  }
}

/** The browser is on this machine: it leads back to a port of the loopback, with a key that counts once. */
async function byListener(server: string, verifier: string, signal: AbortSignal): Promise<BrowserSession> {
  const state = randomBytes(32).toString('base64url');
  const listener = await listen(state);
  try {
    const { port } = listener.address() as AddressInfo;
    const { id, page } = await begin(server, verifier, { port, state });
    const handedOver = once(listener, 'key', { signal });
    notice([
      'Sign in with this address, in a browser on this machine:',
      `  ${page}`,
      'In a browser elsewhere: mesh login --device. With a password: mesh login --username NAME.',
    ]);
    openBrowser(page);
    const [key] = await handedOver;
    const session = await finish(server, { id, verifier, key });
    if (!session) throw new CliError('The browser came back before anybody decided. Try again: mesh login', EXIT.auth);
    return session;
  } finally {
    listener.close();
    listener.closeAllConnections();
  }
}

/** The browser is on any machine: the person types a code there. */
async function byCode(
  server: string,
  verifier: string,
  { id, page, userCode = '', interval }: Begun,
  signal: AbortSignal,
): Promise<BrowserSession> {
  notice(['Open this address in a browser anywhere, and type the code there:', `  ${page}`, `  ${userCode}`]);
  for (;;) {
    await setTimeout(interval * 1_000, undefined, { signal });
    const session = await finish(server, { id, verifier }).catch(nothingWhereAway);
    if (session) return session;
  }
}

async function begin(server: string, verifier: string, listener?: { port: number; state: string }): Promise<Begun> {
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const host =
    hostname()
      .replaceAll(/[^\w.-]/g, '-')
      .slice(0, TEXT_LIMITS.hostname) || 'unknown';
  const body = { host, challenge, server: parseServer(server).origin, ...(listener && { listener }) };
  const begun = (await call(server, 'begin', body)) as Begun;
  // It is given to a program that opens whatever it is given.
  parseServer(begun.page);
  return begun;
}

async function finish(server: string, body: object): Promise<BrowserSession | undefined> {
  return ((await call(server, 'finish', body)) as { readonly session?: BrowserSession }).session;
}

function call(server: string, step: 'begin' | 'finish', body: object): Promise<unknown> {
  const target = { server, token: undefined, workspace: undefined };
  return callApi(target, { method: 'post', path: `${PATH}/${step}`, body, anonymous: true });
}

/** It is asked again: the person may be deciding meanwhile. */
function nothingWhereAway(error: unknown): undefined {
  if (!(error instanceof CliError) || error.exitCode !== EXIT.unavailable) throw error;
}

/** Listens on a free port of the loopback. Emits `key` for the request that knows the state. @throws CliError */
async function listen(state: string): Promise<Server> {
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    const key = url?.searchParams.get('key');
    const isOwn = request.method === 'GET' && url?.pathname === '/' && url.searchParams.get('state') === state;
    response.writeHead(isOwn && key ? 200 : 404, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      connection: 'close',
    });
    if (!isOwn || !key) return void response.end('Nothing is here.\n');
    response.end('The command line goes on. You can close this page.\n', () => server.emit('key', key));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    throw new CliError(
      `No port of 127.0.0.1 can be listened on (${error.code}). Sign in by a code: mesh login --device`,
      EXIT.unavailable,
    );
  });
  return server;
}

/** The address is shown too, so nothing depends on this. */
function openBrowser(page: string): void {
  const opener = spawn(OPENERS[process.platform] ?? 'xdg-open', [page], { stdio: 'ignore', detached: true });
  opener.on('error', () => undefined);
  opener.unref();
}
