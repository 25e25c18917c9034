import type { WorkspaceRole } from '../../../core/base/scope.ts';
import { ADMIN_PASSWORD, type Harness } from '../http/harness.ts';

/** Of everyone here: nobody has to choose one when they sign in. */
export const PASSWORD = 'a password of my own 42';
const FIRST = 'a password for a start 7';

/** The administrator with a password of their own, and a session. */
export async function ownPassword(harness: Harness): Promise<string> {
  const token = await harness.login('admin', ADMIN_PASSWORD);
  await choose(harness, token, ADMIN_PASSWORD);
  return harness.login('admin', PASSWORD);
}

/** A member of a workspace who can sign in with {@link PASSWORD}. */
export async function member(
  harness: Harness,
  { token, workspace }: { readonly token: string; readonly workspace: string },
  username: string,
  role: WorkspaceRole,
): Promise<void> {
  await harness.api('POST', '/api/v1/users', { token, body: { username, password: FIRST } });
  await harness.api('PUT', `/api/v1/workspaces/${workspace}/members/${username}`, { token, body: { role } });
  await choose(harness, await harness.login(username, FIRST), FIRST);
}

async function choose(harness: Harness, token: string, oldPassword: string): Promise<void> {
  await harness.api('PUT', '/api/v1/users/me/password', { token, body: { oldPassword, newPassword: PASSWORD } });
}
