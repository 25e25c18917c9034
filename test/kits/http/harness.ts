import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { dump } from 'js-yaml';
import { loadConfig } from '../../../bin/compose/config.ts';
import { type Plane, startPlane } from '../../../bin/compose/plane.ts';
import type { Clock, Log } from '../../../core/base/ports.ts';
import { makeKeysFile } from '../../../storage/credentials.ts';
import { operations } from '../../../tools/index.ts';
import { startBalancer } from '../balancer.ts';
import { expectDeclaredStatuses } from '../plane/declared-answers.ts';
import { chooseFirstPassword } from '../plane/first-password.ts';

/** The password that the first administrator of the kits has chosen. */
export const ADMIN_PASSWORD = 'correct horse battery staple';

/** For `app.initAdmins`: {@link startHarness} and {@link login} change this password to {@link ADMIN_PASSWORD}. */
export const FIRST_ADMIN = { username: 'admin', password: 'to be changed at the first login' };

/** What {@link login} chooses where the initial password is {@link ADMIN_PASSWORD}. */
const RENEWED_PASSWORD = 'correct horse battery staple, again';

export const FIRST_CONFIG = { app: { initAdmins: [FIRST_ADMIN] } };

export interface HarnessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Contents of config.yaml; {@link FIRST_ADMIN} unless given, who has then chosen {@link ADMIN_PASSWORD}. */
  readonly config?: unknown;
  readonly clock?: Clock;
  /** An existing configuration directory, to start a plane again on its data. */
  readonly directory?: string;
  /** As `meshd --accept-loss`. */
  readonly acceptLoss?: boolean;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: each scenario knows the answer of the route it calls.
  readonly body: any;
}

export interface ApiOptions {
  readonly token?: string;
  readonly workspace?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Writes config.yaml: {@link FIRST_ADMIN} unless given. */
export function configure(directory: string, config: unknown = FIRST_CONFIG): void {
  writeFileSync(path.join(directory, 'config.yaml'), dump(config));
}

let storeOf: ((directory: string) => string) | undefined;
let planesOfEach = 1;
let envOfEach: Readonly<Record<string, string>> = {};

/**
 * From now on control planes keep their records elsewhere: at a URL for each directory.
 *
 * @param planes that share the records, each in a folder of the directory, behind a balancer
 * @param env for all of them
 * @returns has them keep their records in their directories again, for the files that follow in this process
 */
export function keepRecordsAt(
  of: (directory: string) => string,
  planes = 1,
  env: Readonly<Record<string, string>> = {},
): () => void {
  [storeOf, planesOfEach, envOfEach] = [of, planes, env];
  return () => {
    [storeOf, planesOfEach, envOfEach] = [undefined, 1, {}];
  };
}

/** Where the records of a directory are, unless in it. */
export function recordsOf(directory: string): string | undefined {
  return storeOf?.(directory);
}

/** A whole control plane in this process, on a free loopback port, called as a user calls it: over HTTP. */
export async function startHarness({ env = {}, config, clock, directory, acceptLoss = false }: HarnessOptions = {}) {
  const dir = directory ?? mkdtempSync(path.join(tmpdir(), 'mesh-'));
  configure(dir, config);
  const lines: string[] = [];
  const log = capturing(lines);
  const listeners = {
    MESH_LISTEN: '127.0.0.1:0',
    MESH_BUS_LISTEN: 'off',
    MESH_RELAY_LISTEN: 'off',
    MESH_STUN_LISTEN: 'off',
  };
  const records = recordsOf(dir);
  const store = records !== undefined && { MESH_STORE_URL: records };
  const start = (own: string, keys?: { MESH_KEYS_FILE: string }) =>
    startPlane(loadConfig({ ...listeners, ...store, ...keys, ...envOfEach, ...env }, own), {
      log,
      acceptLoss,
      standalone: keys === undefined,
      ...(clock && { clock }),
    });
  const started = planesOfEach === 1 ? undefined : await startBalanced(dir, config, start);
  const planes: readonly [Plane, ...Plane[]] = started?.planes ?? [await start(dir)];
  const [plane] = planes;
  if (JSON.stringify(config ?? FIRST_CONFIG).includes(FIRST_ADMIN.password)) {
    await chooseFirstPassword(plane.services, ADMIN_PASSWORD);
  }
  const url = started?.url ?? plane.url;
  const stop = started?.stop ?? (() => plane.stop());
  /** Every secret an answer gave out; the log must hold none of them. */
  const secrets = new Set<string>();

  const api = apiOf(url, { secrets, isBalanced: planes.length > 1 });

  return {
    plane,
    /** All of them, where there are several. */
    planes,
    url,
    directory: dir,
    log: lines,
    secrets,
    api,

    login: (username?: string, password?: string) => login(api, username, password),

    /** An admin session and a fresh workspace. */
    workspace: (slug?: string, maxNodeCount?: number) => freshWorkspace(api, slug, maxNodeCount),

    /** Stops the plane and keeps its directory. */
    stop,

    async [Symbol.asyncDispose](): Promise<void> {
      // A plane that a test has stopped, or whose metrics are closed, tells nothing.
      const metrics = await api('GET', '/metrics').catch(() => undefined);
      await stop();
      rmSync(dir, { recursive: true, force: true });
      if (metrics?.status === 200) expectDeclaredStatuses(metrics.text, operations);
    },
  };
}

/** Planes of one installation behind a balancer; the first of them is looked into. */
async function startBalanced(
  dir: string,
  config: unknown,
  start: (own: string, keys: { MESH_KEYS_FILE: string }) => Promise<Plane>,
) {
  const keysFile = path.join(dir, 'keys.json');
  if (!existsSync(keysFile)) makeKeysFile(keysFile);
  const folders = Array.from({ length: planesOfEach }, (_, nth) => path.join(dir, `plane-${nth}`));
  const planes = await Promise.all(
    folders.map((folder) => {
      mkdirSync(folder, { recursive: true });
      configure(folder, config);
      return start(folder, { MESH_KEYS_FILE: keysFile });
    }),
  );
  const balancer = await startBalancer();
  balancer.use(planes.map(({ url }) => url));
  return {
    planes: planes as [Plane, ...Plane[]],
    url: balancer.url,
    async stop() {
      await Promise.all(planes.map((plane) => plane.stop()));
      await balancer.stop();
    },
  };
}

export type Api = (method: string, route: string, options?: ApiOptions) => Promise<ApiAnswer>;

interface Called {
  /** Where every secret that an answer gives out is noted. */
  readonly secrets?: Set<string>;
  /** Each request has a connection of its own: it goes to the next control plane, and to none that has just ended. */
  readonly isBalanced?: boolean;
}

/** Calls a control plane as a user does. */
export function apiOf(url: string, { secrets = new Set(), isBalanced = planesOfEach > 1 }: Called = {}): Api {
  return async (method, route, options = {}) => {
    const { token, workspace, body, headers = {} } = options;
    const response = await fetch(new URL(route, url), {
      method,
      headers: {
        ...(isBalanced && { connection: 'close' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(workspace !== undefined && { 'x-workspace-id': workspace }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    for (const [secret] of text.matchAll(
      /mesh-(?:join|dlg|agt|dev|api|oat|oac|ort)-[\w-]{43}|eyJ[\w-]+\.[\w-]+\.[\w-]+/g,
    ))
      secrets.add(secret);
    return { status: response.status, headers: response.headers, text, body: parse(text) };
  };
}

/** A session. The first administrator who still has the password of {@link FIRST_ADMIN} changes it before. */
export async function login(api: Api, username = 'admin', password = ADMIN_PASSWORD): Promise<string> {
  const { status, body } = await signIn(api, username, password);
  if (username !== 'admin' || password !== ADMIN_PASSWORD) return body.data.token;
  if (status === 401) return loginWithOwn(api, username, FIRST_ADMIN.password, password);
  // In the databases of releases it is the initial one.
  return body.data.passwordChangeRequired ? loginWithOwn(api, username, password, RENEWED_PASSWORD) : body.data.token;
}

/** A session of a person who changes the initial password before. */
export async function loginWithOwn(api: Api, username: string, initial: string, own: string): Promise<string> {
  const { token } = (await signIn(api, username, initial)).body.data;
  await api('PUT', '/api/v1/users/me/password', { token, body: { oldPassword: initial, newPassword: own } });
  return (await signIn(api, username, own)).body.data.token;
}

function signIn(api: Api, username: string, password: string): Promise<ApiAnswer> {
  return api('POST', '/api/v1/users/login', { body: { username, password } });
}

/** An admin session and a fresh workspace. */
export async function freshWorkspace(
  api: Api,
  slug = 'prod',
  maxNodeCount = 250,
): Promise<{ token: string; workspace: string }> {
  const token = await login(api);
  const fields = { slug, namespace: slug, displayName: slug, maxNodeCount };
  const { body } = await api('POST', '/api/v1/workspaces/add', { token, body: fields });
  return { token, workspace: body.data.id };
}

export type Harness = Awaited<ReturnType<typeof startHarness>>;

function capturing(lines: string[]): Log {
  const at = (level: string) => (fields: object, message: string) => {
    lines.push(JSON.stringify({ level, ...fields, msg: message }));
  };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
