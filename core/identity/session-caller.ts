import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import { ROLE_SCOPES, type Scope } from '../base/scope.ts';
import type { NetworkServices } from '../state/services.ts';
import type { AccountRecord } from './accounts.ts';
import type { Verification } from './credential-cache.ts';
import { NO_SCOPES } from './grants.ts';
import { roleOf } from './members.ts';
import { restrictionOf } from './restriction.ts';
import type { SessionUse } from './session-use.ts';
import { findSession, type SessionRecord } from './sessions.ts';
import type { WorkspaceDirectory } from './workspace-directory.ts';

/** @throws MeshError `unauthenticated` for what is no session, or one that was ended. */
export async function verifySession(
  services: Pick<NetworkServices, 'store' | 'keys' | 'settings'>,
  directory: WorkspaceDirectory,
  bearer: string,
  uses: Pick<SessionUse, 'learn' | 'words'>,
): Promise<Verification> {
  const claims = await services.keys.verifySession(bearer);
  const found = claims && (await findSession(services, claims.jti));
  if (!found || found.account.uid !== claims.sub) throw unknownSession();
  const { session, account } = found;
  if (uses.learn(session)) throw new MeshError('unauthenticated', uses.words);
  const sessions = [session.uid, session.spec.issued?.session ?? session.uid];
  return {
    caller: await personOf(services, directory, account, session),
    restsOn: [...sessions.map((uid) => `Session:${uid}`), `Account:${account.uid}`, `Member:${account.uid}`],
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

function unknownSession(): MeshError {
  return new MeshError('unauthenticated', 'This session is unknown or ended: log in again.');
}
