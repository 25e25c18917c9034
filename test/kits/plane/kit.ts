import { generateKeyPairSync } from 'node:crypto';
import { buildServices } from '../../../bin/compose/services.ts';
import { ANONYMOUS, type Caller } from '../../../core/base/caller.ts';
import type { Edition } from '../../../core/base/edition.ts';
import { newId, SYSTEM_WORKSPACE } from '../../../core/base/ids.ts';
import type { CallContext, Face } from '../../../core/base/operation.ts';
import type { FetchDocument } from '../../../core/base/ports.ts';
import { draftOf, type RecordDraft } from '../../../core/base/record.ts';
import { ROLE_SCOPES, type Role, SCOPES, type Scope } from '../../../core/base/scope.ts';
import { silentLog } from '../../../core/base/silent-log.ts';
import { formatInstant } from '../../../core/base/time.ts';
import { buildGate } from '../../../core/call/gate.ts';
import { type CallRequest, invoke } from '../../../core/call/invoke.ts';
import type { Narrator } from '../../../core/cause/narrator.ts';
import type { RemoteCompute } from '../../../core/compute/compute.ts';
import { addWorkspace } from '../../../core/identity/add-workspace.ts';
import type { Planner } from '../../../core/intent/plan/planner.ts';
import type { AuthorizationServer } from '../../../core/model/authorization-server.ts';
import type { IssuerClient, IssuerRules } from '../../../core/model/issuers.ts';
import { SIGN_IN_DEFAULTS, type SignInRules } from '../../../core/model/sign-in-rules.ts';
import { settingsSchema, workspaceById } from '../../../core/model/workspaces.ts';
import type { Services } from '../../../core/workflow/services.ts';
import { builtinPlanner } from '../../../llm/grammar/builtin.ts';
import { buildAccessTokenVerifier } from '../../../plane/workloads/access-tokens.ts';
import { buildKeyring } from '../../../storage/keyring.ts';
import { newLogKey } from '../../../storage/log-keys.ts';
import { openStore } from '../../../storage/open.ts';
import { operations } from '../../../tools/index.ts';
import { countCommits } from './commit-counts.ts';
import { expectDeclaredProblem } from './declared-answers.ts';

/** 2026-01-05, a Monday, 12:00 UTC. */
const KIT_NOW = Date.UTC(2026, 0, 5, 12);

export interface KitOptions {
  readonly edition?: Edition;
  readonly now?: number;
  readonly planner?: Planner;
  readonly narrator?: Narrator;
  readonly signIn?: Partial<SignInRules>;
  readonly registrationProof?: Services['settings']['registrationProof'];
  /** File of the store, for tests that open it again; in memory without. */
  readonly path?: string;
  readonly webhookAllow?: readonly string[];
  readonly publicUrls?: readonly string[];
  /** Issuers that sign people in, and what speaks with them. */
  readonly issuers?: readonly IssuerRules[];
  readonly issuerClient?: IssuerClient;
  /** Another one than the own. */
  readonly authorizationServer?: AuthorizationServer;
  /** Fetches the keys of that one. */
  readonly fetchDocument?: FetchDocument;
  /** Of a plane that is opened again on its store; new ones without. */
  readonly keys?: Services['keys'];
  /** What does computations; done in place without. */
  readonly compute?: RemoteCompute;
  /** Of the reserve, what is left on the disk of the store; all of it without. */
  readonly left?: () => number;
}

export interface CallAs {
  readonly as?: Caller;
  readonly bearer?: string;
  readonly workspace?: string;
  readonly face?: Face;
  readonly origin?: string;
  /** Tells whether root or the user of the control plane calls, as tests over HTTP do; true unless set. */
  readonly isFromHost?: boolean;
  readonly ifMatch?: CallRequest['ifMatch'];
  readonly wire?: string;
  /** Key of the browser that calls. */
  readonly browserKey?: string;
}

/** A control plane without faces: the real services over a store in memory, a clock that only moves when told. */
export async function buildKit(options: KitOptions = {}) {
  const { edition = 'pro', now = KIT_NOW, planner = builtinPlanner, path = ':memory:' } = options;
  const {
    registrationProof = 'optional',
    compute,
    narrator,
    signIn,
    keys = freshKeys(),
    webhookAllow = [],
    publicUrls = [],
    issuers = [],
    issuerClient,
    authorizationServer,
    fetchDocument,
    left = () => 1,
  } = options;
  const clock = { time: now, now: () => clock.time };
  const isDiskFull = (share: number) => left() < share;
  const store = await openStore(path, { clock, log: silentLog });
  const commits = countCommits(store);
  const services: Services = buildServices({
    store,
    isDiskFull,
    shared: store.shared,
    clock,
    log: silentLog,
    edition,
    keys,
    planner,
    narrator,
    compute,
    issuers: issuerClient,
    accessTokens:
      fetchDocument &&
      buildAccessTokenVerifier({ settings: { publicUrls, authorizationServer }, keys, clock, fetchDocument }),
    settings: {
      issuers,
      authorizationServer,
      version: '0.0.0-test',
      apiUrl: 'http://127.0.0.1:18090',
      publicUrls,
      signalingUrl: 'nats://127.0.0.1:4222',
      relays: [{ name: 'main', url: '127.0.0.1:6266' }],
      stunUrls: ['127.0.0.1:3478'],
      registrationProof,
      listens: {
        api: { host: '127.0.0.1', tls: false },
        bus: { host: '127.0.0.1', auth: 'none', tls: false },
      },
      logKeySince: now,
      planTtlMs: 600_000,
      signIn: { ...SIGN_IN_DEFAULTS, ...signIn },
      webhookAllow,
    },
  });
  const gate = { ...buildGate(services), isDiskFull };
  const byName = new Map(operations.map((operation) => [operation.name, operation]));

  return {
    services,
    gate,
    clock,

    /** Runs an operation through `invoke`, as a face would. @throws MeshError */
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
    async call(name: string, raw: Record<string, unknown> = {}, options: CallAs = {}): Promise<any> {
      const operation = byName.get(name);
      if (!operation) throw new TypeError(`There is no operation ${name}.`);
      const {
        as,
        bearer,
        workspace,
        face = 'rest',
        origin = '127.0.0.1',
        isFromHost = true,
        ifMatch,
        wire,
        browserKey,
      } = options;
      if (as?.kind === 'agent') await ensureAgent(services, as);
      const signal = AbortSignal.timeout(30_000);
      const request = {
        raw,
        bearer,
        workspaceHints: [workspace],
        face,
        origin,
        isFromHost: async () => isFromHost,
        requestId: newId('r'),
        signal,
        ifMatch,
        wire,
        browserKey,
      };
      const asked = as ? { ...request, caller: as } : request;
      const answer = invoke(operation, asked, gate).finally(() => commits.requireSaid(name, request.requestId));
      return answer.catch((error: unknown) => {
        expectDeclaredProblem(operation, error);
        throw error;
      });
    },

    /** A new workspace; its id. */
    async workspace(slug = newId('w').slice(2, 12), maxNodeCount = 250): Promise<string> {
      const context = systemCall(services);
      const record = await addWorkspace({ slug, namespace: slug, displayName: slug, maxNodeCount }, context);
      return record.uid;
    },

    /** Gives a workspace settings as they may be there from earlier on, without the approval that weaker ones take. */
    async haveSettings(workspace: string, settings: Record<string, unknown>): Promise<void> {
      const record = await workspaceById(services, workspace);
      const spec = { ...record.spec, settings: settingsSchema.parse({ ...record.spec.settings, ...settings }) };
      const op = { op: 'update', record: { ...draftOf(record), spec }, revision: record.revision } as const;
      const context = { actor: 'system:test', reason: 'settings', requestId: 'r_test' };
      await store.commit(SYSTEM_WORKSPACE, [op], context);
    },

    person,
    agent,

    async [Symbol.asyncDispose](): Promise<void> {
      gate.close();
      await store.close();
    },
  };
}

export type Kit = Awaited<ReturnType<typeof buildKit>>;

/** A signed-in person with a role in one workspace, or everywhere as platform_admin. */
export function person(role: Role, workspace: string, name: string = role): Caller {
  const everywhere = role === 'platform_admin';
  return {
    kind: 'user',
    subject: `user:${name}`,
    id: `u_${name}`,
    name,
    person: `u_${name}`,
    tokenId: `ses_${name}`,
    workspaces: everywhere ? 'all' : [workspace],
    scopesIn: (id) => (everywhere || id === workspace ? ROLE_SCOPES[role] : new Set<Scope>()),
    interactive: true,
  };
}

/** The identity of an agent that a test made up: whoever says it is one and is not known writes nothing. */
export async function ensureAgent({ store, clock }: Pick<Services, 'store' | 'clock'>, caller: Caller): Promise<void> {
  const { id, name, workspaces } = caller;
  const [workspace] = workspaces;
  if (caller.again || workspace === undefined || !(await store.getById(SYSTEM_WORKSPACE, 'Workspace', workspace)))
    return;
  const kind = 'AgentIdentity';
  if ((await store.getById(workspace, kind, id)) || (await store.get(workspace, { kind, name }))) return;
  const record: RecordDraft<'AgentIdentity'> = {
    kind,
    name,
    uid: id,
    labels: {},
    annotations: {},
    spec: {
      ttl: '8760h',
      policyPreset: 'sandboxed',
      scopes: SCOPES,
      expiresAt: formatInstant(clock.now() + 8_760 * 3_600_000),
    },
    status: { phase: 'Active', depth: 0 },
    unique: [],
  };
  const context = { actor: 'system:test', reason: 'made up an agent', requestId: 'r_test' };
  await store.commit(workspace, [{ op: 'create', record }], context);
}

/** An agent with scopes in one workspace. */
export function agent(
  scopes: readonly Scope[],
  workspace: string,
  { id = 'agt_test', name = 'agent', person: maker = 'u_maker' } = {},
): Caller {
  return {
    kind: 'agent',
    subject: `agent:${name}`,
    id,
    name,
    person: maker,
    tokenId: `tok_${name}`,
    workspaces: [workspace],
    scopesIn: (other) => new Set(other === workspace ? scopes : []),
    interactive: false,
  };
}

function freshKeys() {
  const pem = { type: 'pkcs8', format: 'pem' } as const;
  return buildKeyring({
    relayToken: 'test-relay-token-0123456789',
    signingKey: generateKeyPairSync('ed25519').privateKey.export(pem) as string,
    controlKey: generateKeyPairSync('x25519').privateKey.export(pem) as string,
    logKeys: [newLogKey(0)],
  });
}

function systemCall(services: Services): CallContext<Services> {
  const signal = AbortSignal.timeout(30_000);
  return {
    services,
    caller: ANONYMOUS,
    workspace: SYSTEM_WORKSPACE,
    requestId: newId('r'),
    face: 'rest',
    origin: '127.0.0.1',
    signal,
  };
}
