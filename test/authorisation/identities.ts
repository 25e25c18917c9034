import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, SignJWT } from 'jose';
import { draftOf } from '../../core/base/record.ts';
import { NEVER_DELEGATED, PERSON_ONLY_SCOPES, ROLE_SCOPES, SCOPES, type Scope } from '../../core/base/scope.ts';
import { newToken } from '../../core/model/token.ts';
import { enrol } from '../kits/plane/devices.ts';
import { CONTEXT, type IdentityKit } from '../kits/plane/identity-kit.ts';
import type { Identity, Standing } from './standing.ts';

export interface Plane {
  readonly kit: IdentityKit;
  readonly workspace: string;
  readonly foreign: string;
  // biome-ignore lint/suspicious/noExplicitAny: each caller knows the answer of the operation it names.
  call(bearer: string, name: string, raw?: Record<string, unknown>, at?: string): Promise<any>;
  passNight(): void;
  firstLogin(): Promise<string>;
}

/** All that a person can give an agent. */
const GIVEN = SCOPES.filter((scope) => !PERSON_ONLY_SCOPES.has(scope));
const DELEGATED = GIVEN.filter((scope) => !NEVER_DELEGATED.has(scope));
const OF_ADMIN_TOKEN = [...ROLE_SCOPES.admin].filter((scope) => !PERSON_ONLY_SCOPES.has(scope));
const NONE: ReadonlySet<Scope> = new Set();

/** Every identity of the table, with what its credential was given. */
export async function identitiesOf(plane: Plane) {
  const { kit, workspace, foreign, call } = plane;
  const identities: Identity[] = [];
  const listIn =
    (group: Identity['group']) => (name: string, bearer: string | undefined, standing: Standing, what: string) =>
      void identities.push({ name, group, what, bearer, standing });
  const [person, machine, nobody] = [listIn('People'), listIn('Machines'), listIn('Nobody')];
  const gone: Standing = { refused: '401' };
  const session = (scopes: ReadonlySet<Scope>, member: boolean | 'all' = true): Standing => ({
    kind: 'user',
    scopes,
    member,
    interactive: true,
  });
  const agent = (scopes: Iterable<Scope>): Standing => ({ kind: 'agent', scopes: new Set(scopes), member: true });
  const holder = (kind: 'device' | 'enrolment'): Standing => ({ kind, scopes: NONE, member: true });

  const sleeper = await kit.person('sleeper', 'admin', workspace);
  const old = { name: 'old', scopes: OF_ADMIN_TOKEN, expiry: '1h' };
  const expiredToken = (await call(sleeper, 'create_api_token', old)).token;
  const expiredAgent = (await call(sleeper, 'create_agent', { name: 'old-bot', scopes: GIVEN, ttl: '1h' })).token;
  plane.passNight();

  const platform = await kit.admin();
  const admin = await kit.person('ada', 'admin', workspace);
  person('viewer', await kit.person('vera', 'viewer', workspace), session(ROLE_SCOPES.viewer), 'a session');
  person('auditor', await kit.person('otto', 'auditor', workspace), session(ROLE_SCOPES.auditor), 'a session');
  person('operator', await kit.person('opal', 'operator', workspace), session(ROLE_SCOPES.operator), 'a session');
  person('admin', admin, session(ROLE_SCOPES.admin), 'a session');
  const all = session(ROLE_SCOPES.platform_admin, 'all');
  person('platform admin', platform, all, 'a session, member of no workspace and at home in all');
  const foreignAdmin = await kit.person('mallory', 'admin', foreign);
  person(
    'foreign admin',
    foreignAdmin,
    { ...session(NONE, false), elsewhere: ROLE_SCOPES.admin },
    'a session of an admin of another workspace',
  );
  const removed = await kit.person('remo', 'admin', workspace);
  person('removed', removed, session(NONE, false), 'a session of an admin who was removed from the workspace since');
  const unchanged: Standing = { ...session(NONE, false), mustChangePassword: true };
  const first = 'a session of an admin who has not changed an initial password';
  person('first login', await plane.firstLogin(), unchanged, first);
  const token = { name: 'ci', scopes: OF_ADMIN_TOKEN };
  const api = { kind: 'user', scopes: new Set(OF_ADMIN_TOKEN), member: true } as const;
  const made = await call(admin, 'create_api_token', token);
  person('API token', made.token, api, 'of an admin, with all scopes that a token can have');

  const join = (await call(admin, 'generate_join_token', { name: 'join', usageLimit: 100 })).token;
  machine('join token', join, holder('enrolment'), 'made by an admin');
  const root = await call(admin, 'create_agent', { name: 'root-bot', scopes: GIVEN, reach: [{}] });
  const delegate = async (subAgentName: string, policyPreset: string, scopes: readonly Scope[]) => {
    const asked = { id: 'self', subAgentName, ttl: '1h', policyPreset, scopes };
    return (await call(root.token, 'delegate_agent', asked)).enrollmentToken;
  };
  const register = (bearer: string, name: string): Promise<{ id: string; deviceToken: string; agentToken: string }> =>
    enrol(kit, bearer, name);
  const unspent = await delegate('unborn', 'inherit', DELEGATED);
  machine('delegate token', unspent, holder('enrolment'), 'unspent, made by the root agent');
  const device = (await register(join, 'web-1')).deviceToken;
  machine('device', device, holder('device'), 'let into the network');

  await register(join, 'web-4');
  const settings = (requirePeerApproval: boolean) =>
    call(admin, 'update_workspace', { settings: { requirePeerApproval } });
  await settings(true);
  const waiting = (await register(join, 'web-2')).deviceToken;
  machine('pending device', waiting, { ...holder('device'), pending: true }, 'not let in yet');
  const pendingAgent = await register(await delegate('waiting-bot', 'inherit', DELEGATED), 'waiting-bot');
  await settings(false);
  const shutOut = await register(join, 'web-3');
  await call(admin, 'revoke_peer', { id: shutOut.id });
  machine('revoked device', shutOut.deviceToken, { refused: '403' }, 'shut out of the network by an admin');

  machine('root agent', root.token, agent(GIVEN), 'given every scope that a person can give');
  const GIVEN_TO: Readonly<Record<string, readonly Scope[]>> = {
    isolated: ['network:read'],
    sandboxed: ['network:read', 'snapshots:read', 'intents:plan'],
    coordinator: ['network:read', 'snapshots:read', 'intents:plan', 'intents:apply', 'agents:delegate'],
    inherit: DELEGATED,
  };
  for (const [preset, scopes] of Object.entries(GIVEN_TO)) {
    const { agentToken } = await register(await delegate(`${preset}-bot`, preset, scopes), `${preset}-bot`);
    machine(preset, agentToken, agent(scopes), `sub-agent with this preset and ${scopes.join(', ')}`);
  }
  const overgranted = await register(await delegate('over-bot', 'inherit', DELEGATED), 'over-bot');
  await overgrant(plane, 'over-bot');
  const over = 'sub-agent whose record names every scope, those that are never delegated too';
  machine('overgranted', overgranted.agentToken, agent(DELEGATED), over);
  const demoted = await kit.person('demo', 'admin', workspace);
  const sunk = (await call(demoted, 'create_agent', { name: 'demo-bot', scopes: GIVEN })).token;
  await call(admin, 'set_member', { username: 'demo', role: 'viewer' });
  const kept = [...ROLE_SCOPES.viewer, 'agents:delegate'] as const;
  machine('sunk agent', sunk, agent(kept), 'given every scope by an admin who is a viewer now');
  machine('pending agent', pendingAgent.agentToken, { refused: 'pending' }, 'sub-agent whose peer is not let in yet');

  nobody('none', undefined, gone, 'no token is sent');
  nobody('garbage', 'absent-1', gone, 'no form of a token');
  nobody('forged token', newToken('api'), gone, 'the form of an API token that nobody made');
  nobody('forged device', newToken('dev'), gone, 'the form of a device token that nobody made');
  nobody('forged session', await forgedSession(platform), gone, "a platform admin's session, signed with another key");
  nobody('expired token', expiredToken, gone, 'API token of an admin');
  nobody('expired session', sleeper, gone, 'of an admin');
  nobody('expired agent', expiredAgent, gone, 'root agent of an admin');
  const revoked = await call(admin, 'create_api_token', { ...token, name: 'revoked' });
  await call(admin, 'revoke_api_token', { id: revoked.id });
  nobody('revoked token', revoked.token, gone, 'API token of an admin');
  const revokedAgent = await call(admin, 'create_agent', { name: 'revoked-bot', scopes: GIVEN });
  await call(admin, 'revoke_agent', { id: revokedAgent.id });
  nobody('revoked agent', revokedAgent.token, gone, 'root agent of an admin');
  const left = await kit.person('lou', 'admin', workspace);
  await call(left, 'log_out');
  nobody('logged out', left, gone, 'session of an admin');
  const disabled = await kit.person('dora', 'admin', workspace);
  await call(platform, 'update_user', { username: 'dora', disabled: true });
  nobody('disabled', disabled, gone, 'session of an admin whose account was disabled');
  const orphan = (await call(removed, 'create_agent', { name: 'orphan-bot', scopes: GIVEN })).token;
  const orphanToken = (await call(removed, 'create_api_token', token)).token;
  await call(admin, 'remove_member', { username: 'remo' });
  nobody('orphan agent', orphan, gone, 'root agent of an admin who was removed from the workspace');
  nobody('orphan token', orphanToken, gone, 'API token of an admin who was removed from the workspace');

  return { identities, admin, device, foreignAdmin, root: String(root.token) };
}

/** As a record of before the rule could be. */
async function overgrant({ kit, workspace }: Plane, name: string): Promise<void> {
  const { store } = kit.services;
  const record = await store.get(workspace, { kind: 'AgentIdentity', name });
  if (!record) throw new Error(`There is no agent ${name}.`);
  const written = { ...draftOf(record), spec: { ...record.spec, scopes: [...SCOPES] } };
  await store.commit(workspace, [{ op: 'update', record: written, revision: record.revision }], CONTEXT);
}

/** The claims of a session that there is, signed with another key. */
function forgedSession(session: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ed25519');
  return new SignJWT(decodeJwt(session)).setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' }).sign(privateKey);
}
