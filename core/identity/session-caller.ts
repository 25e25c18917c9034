import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { ROLE_SCOPES, type Scope } from '../base/scope.ts';
import type { Settings } from '../model/services.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AccountRecord, accountById } from './accounts.ts';
import type { Verification } from './credential-cache.ts';
import { NO_SCOPES } from './grants.ts';
import { roleOf } from './members.ts';
import { restrictionOf } from './restriction.ts';
import type { SessionUse } from './session-use.ts';
import { isOfAccount, isOfIssuer, type SessionRecord } from './sessions.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

/** @throws MeshError `unauthenticated` for what is no session, or one that was ended. */
export async function verifySession(
  services: Pick<NetworkServices, 'store' | 'keys' | 'settings'>,
  directory: WorkspaceDirectory,
  bearer: string,
  uses: Pick<SessionUse, 'learn' | 'words'>,
): Promise<Verification> {
  const { store, keys } = services;
  const claims = await keys.verifySession(bearer);
  if (!claims) throw unknownSession();
  const session = (await store.get(SYSTEM_WORKSPACE, { kind: 'Session', name: claims.jti })) as
    | SessionRecord
    | undefined;
  const account = session && (await accountById(services, session.spec.account));
  if (!account || account.uid !== claims.sub || !isOfAccount(session, account)) throw unknownSession();
  if (!mayGoOn(session, account, services.settings)) throw unknownSession();
  if (uses.learn(session)) throw new MeshError('unauthenticated', uses.words);
  return {
    caller: await personOf(services, directory, account, session),
    restsOn: [`Session:${session.uid}`, `Account:${account.uid}`, `Member:${account.uid}`],
  };
}

async function personOf(
  services: Pick<NetworkServices, 'store' | 'settings'>,
  directory: WorkspaceDirectory,
  account: AccountRecord,
  session: SessionRecord,
): Promise<Caller> {
  const base = {
    kind: 'user',
    subject: `user:${account.name}`,
    id: account.uid,
    name: account.name,
    person: account.uid,
    tokenId: session.uid,
    interactive: true,
    expiresAt: session.spec.expiresAt,
  } as const;
  const restriction = await restrictionOf(services, account, session.createdAt);
  if (restriction) return { ...base, workspaces: [], scopesIn: () => NO_SCOPES, restriction };
  if (account.spec.role === 'platform_admin') {
    return { ...base, workspaces: 'all', scopesIn: () => ROLE_SCOPES.platform_admin };
  }
  const scopes = new Map<string, ReadonlySet<Scope>>();
  const workspaces = await directory.all();
  const roles = await Promise.all(workspaces.map(({ uid }) => roleOf(services, uid, account)));
  for (const [index, role] of roles.entries()) {
    const workspace = workspaces[index];
    if (role && workspace) scopes.set(workspace.uid, ROLE_SCOPES[role]);
  }
  return { ...base, workspaces: [...scopes.keys()], scopesIn: (workspace) => scopes.get(workspace) ?? NO_SCOPES };
}

/** The configuration names the issuers and local accounts that sign people in; it may have changed since a session began. */
function mayGoOn(session: SessionRecord, account: AccountRecord, { issuers = [], signIn }: Settings): boolean {
  const { issued, username } = session.spec;
  if (issued) return issuers.some((rules) => isOfIssuer(session, account, rules));
  return signIn.onlyLocalAccount === undefined || signIn.onlyLocalAccount === username;
}

function unknownSession(): MeshError {
  return new MeshError('unauthenticated', 'This session is unknown or ended: log in again.');
}
