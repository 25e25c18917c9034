import { generateKeyPairSync } from 'node:crypto';
import { buildKeyring } from '../bin/keyring.ts';
import { accountDraft, findAccount } from '../core/identity/accounts.ts';
import { ensureFirstAccounts } from '../core/identity/first-accounts.ts';
import { buildGate, type ServiceGate } from '../core/identity/gate.ts';
import { buildLoginLimits } from '../core/identity/login-limits.ts';
import { createSession } from '../core/identity/sessions.ts';
import { SYSTEM_WORKSPACE } from '../core/ids.ts';
import { invoke } from '../core/invoke.ts';
import type { AnyOperation } from '../core/operation.ts';
import type { Log, SecurityEvent } from '../core/ports.ts';
import type { WorkspaceRole } from '../core/scope.ts';
import { Secret } from '../core/secret.ts';
import type { Services } from '../core/services.ts';
import { openSqliteStore } from '../storage/sqlite/store.ts';
import { addWorkspace } from '../tools/add-workspace.ts';
import { logIn } from '../tools/log-in.ts';

export const START = Date.UTC(2026, 0, 15, 12);
export const LOOPBACK = '127.0.0.1';
export const ADMIN_PASSWORD = 'first-Admin-pass';
export const CONTEXT = { actor: 'system:test', reason: 'test', requestId: 'r_test' };

const NOBODY = { displayName: '', passwordHash: '' };

export interface CallOptions {
  readonly bearer?: string;
  readonly workspace?: string;
  readonly origin?: string;
}

/** The real gate over an in-memory store, so that tests go the way a request goes: by bearer token. */
export async function buildIdentityKit({ initAdmins = true }: { readonly initAdmins?: boolean } = {}) {
  const clock = {
    at: START,
    now: () => clock.at,
  };
  const log: Log = { error() {}, warn() {}, info() {}, debug() {} };
  const store = await openSqliteStore({ path: ':memory:', clock, log });
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  const keys = buildKeyring({
    relayToken: 'a-relay-token-for-tests',
    signingKey: generateKeyPairSync('ed25519').privateKey.export(pem) as string,
    controlKey: generateKeyPairSync('x25519').privateKey.export(pem) as string,
  });
  const settings = {
    version: '0.0.0',
    apiUrl: 'http://127.0.0.1:18090',
    signalingUrl: 'nats://127.0.0.1:4222',
    relayAdvertiseUrl: '127.0.0.1:6266',
    stunUrl: '127.0.0.1:3478',
    planTtlMs: 600_000,
  };
  const logins = buildLoginLimits(clock);
  // Identity reaches neither states, planner nor liveness.
  const services = { store, clock, log, keys, settings, logins, edition: 'pro' } as unknown as Services;
  await ensureFirstAccounts(services, {
    initAdmins: initAdmins ? [{ username: 'admin', password: new Secret(ADMIN_PASSWORD) }] : [],
  });
  const gate = buildGate(services);

  async function call<T = Record<string, unknown>>(
    operation: AnyOperation<Services>,
    raw: Readonly<Record<string, unknown>>,
    { bearer, workspace, origin = LOOPBACK }: CallOptions = {},
  ): Promise<T> {
    const { signal } = new AbortController();
    const request = {
      raw,
      bearer,
      workspaceHints: [workspace],
      face: 'rest',
      origin,
      requestId: 'r_test',
      signal,
    } as const;
    return (await invoke(operation, request, gate)) as T;
  }

  async function login(username: string, password: string, origin = LOOPBACK): Promise<string> {
    const { token } = await call<{ token: string }>(logIn, { username, password }, { origin });
    return token;
  }

  async function sessionOf(username: string): Promise<string> {
    const account = await findAccount(services, username);
    if (!account) throw new Error(`no account ${username}`);
    return (await createSession(services, account, CONTEXT)).token;
  }

  const kit = {
    services,
    clock,
    gate,
    call,
    login,
    /** A fresh session of the first administrator, without the cost of its password. */
    admin: () => sessionOf('admin'),

    /** Id of a new workspace. */
    async workspace(slug: string): Promise<string> {
      const input = { slug, namespace: slug, displayName: slug, maxNodeCount: 50 };
      const { id } = await call<{ id: string }>(addWorkspace, input, { bearer: await kit.admin() });
      return id;
    },

    /** Session of a new account that no password opens, a member where a role is given. */
    async person(username: string, role?: WorkspaceRole, workspace?: string): Promise<string> {
      const spec = { ...NOBODY, role: 'user', passwordState: 'own', disabled: false, epoch: 1 } as const;
      const account = accountDraft(username, spec);
      await store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record: account }], CONTEXT);
      if (role && workspace) {
        const { uid, name } = account;
        const member = {
          kind: 'Member',
          name,
          uid,
          labels: {},
          annotations: {},
          spec: { role },
          status: {},
          unique: [],
        } as const;
        await store.commit(workspace, [{ op: 'create', record: member }], CONTEXT);
      }
      return sessionOf(username);
    },

    /** Security events of the system partition, oldest first. */
    async events(workspace = SYSTEM_WORKSPACE): Promise<readonly SecurityEvent[]> {
      const entries = await store.audit(workspace, { type: 'event', limit: 200 });
      return entries.toReversed().flatMap(({ event }) => event ?? []);
    },

    async [Symbol.asyncDispose](): Promise<void> {
      gate.close();
      await store.close();
    },
  };
  return kit;
}

export type IdentityKit = Awaited<ReturnType<typeof buildIdentityKit>>;
export type { ServiceGate };
