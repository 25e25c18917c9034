import type { Caller } from '../core/base/caller.ts';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import type { Commit } from '../core/base/ports.ts';
import type { Kind, StoredRecord } from '../core/base/record.ts';
import { findAccount } from '../core/identity/accounts.ts';
import { liveApiTokens } from '../core/identity/token-lists.ts';
import type { EgressRule } from '../core/model/policy.ts';
import type { PolicyPreset } from '../core/model/resources.ts';
import { parseToken, type TokenKind, tokenKey } from '../core/model/token.ts';
import type { NetworkState } from '../core/state/state.ts';
import type { Pools } from './authority-input.ts';
import { enrol } from './kits/plane/devices.ts';
import { ADMIN_PASSWORD, buildIdentityKit, type IdentityKit } from './kits/plane/identity-kit.ts';

/** A credential that somebody in the scene got, with what the scene itself knows about it. */
export interface Credential {
  readonly kind: TokenKind;
  readonly bearer: string;
  /** Stays the same when a sequence is shortened. */
  readonly key: string;
  readonly tokenId: string;
  /** The agent it speaks for, or that made it. */
  readonly agent: string | undefined;
  /** The peer it speaks for. */
  readonly peer: string | undefined;
  /** The account it speaks for. */
  readonly account: string | undefined;
}

/** Who calls. */
export type Principal =
  | { readonly kind: 'person'; readonly name: string; readonly account: string; readonly bearer: string }
  | (Credential & { readonly name: string });

/** An agent as it was granted: what was asked for in the calls that made it, not what the store says of it since. */
export interface GrantedAgent {
  readonly uid: string;
  readonly name: string;
  readonly parent: string | undefined;
  /** Account that made the root of its line. */
  readonly person: string;
  readonly reach: readonly EgressRule[];
  readonly preset: PolicyPreset;
  readonly egress: readonly EgressRule[];
  readonly scopes: readonly string[];
  readonly endsAt: number;
}

/** What the scene knows of who made what, from the calls alone. */
export interface Ledger {
  readonly agents: Map<string, GrantedAgent>;
  /** Peers of agents, and those that came with their tokens and nobody adopted. */
  readonly peers: Map<string, string>;
  /** Policies that an agent wrote by itself, and no person has written since. */
  readonly policies: Map<string, string>;
  /** Policies of presets. */
  readonly presets: Map<string, string>;
  /** Workflows that a person approved, by id: the account. */
  readonly approvals: Map<string, string>;
  /** Agents whose peer was revoked, and that no person has let in again. */
  readonly barred: Set<string>;
}

export interface HeldStep {
  readonly who: Principal;
  readonly operation: string;
  readonly input: Record<string, unknown>;
}

export interface Scene {
  readonly kit: IdentityKit;
  readonly workspace: string;
  readonly ledger: Ledger;
  readonly credentials: Credential[];
  /** Calls that wait for a person. */
  readonly held: HeldStep[];
  /** Commits since they were last taken. */
  takeCommits(): Commit[];
  state(): Promise<NetworkState>;
  records<K extends Kind>(kind: K, workspace?: string): Promise<readonly StoredRecord<K>[]>;
  pools(caller: Caller | undefined): Promise<Pools>;
  personNamed(name: string): Promise<Principal | undefined>;
  /** Keeps every token in an answer. */
  learn(answer: unknown, who: Principal, note: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export const PEOPLE = ['ada', 'bob', 'otto', 'vera', 'admin'] as const;
export const PASSWORDS = [ADMIN_PASSWORD, 'second-Admin-pass', 'third-Long-pass'];
const LABELS = [{ role: 'web' }, { role: 'db' }, { role: 'ops' }, { role: 'db', tier: '1' }, {}];
const DEVICES = {
  'web-1': { role: 'web' },
  'web-2': { role: 'web', tier: '1' },
  'db-1': { role: 'db' },
  'ops-1': { role: 'ops' },
};

/** A workspace with people, devices and policies, before any agent is in it. */
export async function buildScene(): Promise<Scene> {
  const kit = await buildIdentityKit();
  const { store, states } = kit.services;
  const workspace = await kit.workspace('prod');
  await kit.workspace('spare');
  const sessions = new Map<string, string>();
  for (const [name, role] of [
    ['ada', 'admin'],
    ['bob', 'admin'],
    ['otto', 'operator'],
    ['vera', 'viewer'],
  ] as const) {
    sessions.set(name, await kit.person(name, role, workspace));
  }
  const ada = { bearer: sessions.get('ada') ?? '', workspace };
  const credentials: Credential[] = [];
  let commits: Commit[] = [];
  const stop = store.onCommit((commit) => commits.push(commit));

  const scene: Scene = {
    kit,
    workspace,
    ledger: {
      agents: new Map(),
      peers: new Map(),
      policies: new Map(),
      presets: new Map(),
      approvals: new Map(),
      barred: new Set(),
    },
    credentials,
    held: [],
    takeCommits() {
      const taken = commits;
      commits = [];
      return taken;
    },
    state: () => states.current(workspace),
    records: async (kind, of = workspace) => (await store.list(of, kind)).items,
    async personNamed(name) {
      const account = await findAccount(kit.services, name);
      if (!account || account.spec.disabled) return undefined;
      const known = sessions.get(name) ?? '';
      const works =
        known !== '' &&
        (await kit.gate.authenticate(known, '127.0.0.1').then(
          () => true,
          () => false,
        ));
      const bearer = works ? known : await kit.sessionOf(name);
      sessions.set(name, bearer);
      return { kind: 'person', name, account: account.uid, bearer };
    },
    async learn(answer, who, note) {
      for (const bearer of tokensIn(answer)) {
        const kind = parseToken(bearer)?.kind;
        const record = await store.lookup(tokenKey(bearer));
        if (!kind || record?.kind !== 'Token' || record.workspace !== workspace) continue;
        const { owner } = record.spec;
        const maker = who.kind === 'person' ? undefined : who.agent;
        const peer = kind === 'dev' ? owner : undefined;
        const agent = { join: maker, dlg: owner, agt: owner, oat: owner, dev: undefined, api: undefined }[kind];
        const account = kind === 'api' ? owner : undefined;
        credentials.push({ kind, bearer, key: `${kind} ${note}`, tokenId: record.uid, agent, peer, account });
      }
    },
    async pools(caller) {
      const state = await scene.state();
      const named = async (kind: Kind, of = workspace) => (await scene.records(kind, of)).map(({ name }) => name);
      const newest = (records: readonly StoredRecord[]) => records.toSorted((a, b) => b.createdAt - a.createdAt);
      const all = newest(await scene.records('Workflow'));
      const waiting = all.filter(({ status }) => (status as { state: string }).state === 'pending');
      const workflows = [...new Set([...waiting.slice(0, 4), ...all.slice(0, 3)])].map(({ name }) => name);
      const unused = newest(await scene.records('Plan')).filter(
        ({ status }) => Object.keys(status as object).length === 0,
      );
      const plans = unused.slice(0, 3).map(({ name }) => name);
      const [snapshots, tokens] = [
        (await scene.records('Snapshot')).map(({ uid }) => uid),
        (await scene.records('Token')).map(({ uid }) => uid),
      ];
      const ownTokens = (await liveApiTokens(kit.services, workspace, caller?.id ?? '')).map(({ uid }) => uid);
      return {
        names: {
          workflow: workflows,
          // Those of the caller, where there are any; anybody's else.
          api_token: ownTokens.length > 0 ? ownTokens : tokens,
          token: tokens,
          assertion: await named('PolicyAssertion'),
          policy: [...state.policies.keys()],
          // A workspace that was deleted has none.
          network: state.networks.size > 0 ? [...state.networks.keys()] : ['default'],
          agent: [...state.agents.values()].flatMap(({ name, status }) => (status.phase === 'Revoked' ? [] : [name])),
          peer: [...state.peers.keys()],
          snapshot: snapshots,
          webhook: (await scene.records('Webhook')).map(({ uid }) => uid),
          review: (await scene.records('Review')).map(({ uid }) => uid),
          assessment: (await scene.records('Assessment')).map(({ uid }) => uid),
          plan: plans,
          user: await named('Account', SYSTEM_WORKSPACE),
          session: await named('Session', SYSTEM_WORKSPACE),
        },
        labels: LABELS,
        ownLabels: [...state.peers.values()].flatMap(({ labels }) =>
          Object.entries(labels).flatMap(([key, value]) =>
            key.startsWith('mesh.internal/') ? [{ [key]: value }] : [],
          ),
        ),
        passwords: PASSWORDS,
        tokens: credentials.filter(({ kind }) => kind === 'join' || kind === 'dlg').map(({ bearer }) => bearer),
        scopes: [...(caller?.scopesIn(workspace) ?? [])],
        now: kit.clock.time,
        revision: state.revision,
      };
    },
    async [Symbol.asyncDispose]() {
      stop();
      await kit[Symbol.asyncDispose]();
    },
  };

  for (const [name, labels] of Object.entries(DEVICES)) {
    const made = await kit.call({ name: 'generate_join_token' }, { name, labels }, ada);
    const joined = await enrol(kit, String(made['token']), name);
    const who: Principal = { kind: 'person', name: 'ada', account: '', bearer: ada.bearer };
    await scene.learn([made, joined], who, name);
  }
  const spec = {
    action: 'ALLOW',
    peerSelector: { matchLabels: { role: 'db' } },
    ingress: [{ from: [{ peerSelector: { matchLabels: { role: 'web' } } }], ports: [{ protocol: 'TCP', port: 5432 }] }],
  };
  await kit.call({ name: 'create_policy' }, { name: 'web-to-db', spec }, ada);
  await kit.call(
    { name: 'create_assertion' },
    { name: 'web-meets', src: 'web-1', dst: 'web-2', port: 9, expect: 'reachable' },
    ada,
  );
  await kit.call({ name: 'take_snapshot' }, {}, ada);
  scene.takeCommits();
  return scene;
}

function tokensIn(value: unknown): string[] {
  if (typeof value === 'string') return parseToken(value) ? [value] : [];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(tokensIn) : [];
}
