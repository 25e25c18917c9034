import type { Caller } from '../base/caller.ts';
import { MeshError } from '../base/errors.ts';
import type { AnyOperation } from '../base/operation.ts';
import { type Access, PERSON_ONLY_SCOPES } from '../base/scope.ts';

/** @throws MeshError `forbidden`, `password_change_required` */
export function requireAccess<Services>(
  { access, name }: AnyOperation<Services>,
  caller: Caller | null,
  workspace: string,
): void {
  if (access === 'public') return;
  if (!caller) throw new MeshError('unauthenticated', 'Send a token in the header Authorization: Bearer <token>.');
  if (caller.mustChangePassword && name !== 'change_password' && name !== 'get_me') {
    throw new MeshError('password_change_required', 'Change the password first: PUT /api/v1/users/me/password.');
  }
  if (mayAccess(access, caller, workspace)) return;
  throw new MeshError('forbidden', forbiddenDetail(access), { scope: access });
}

/** Whether a caller may use an operation with this access in this workspace; also decides which tools it is shown. */
export function mayAccess(access: Access, caller: Caller, workspace: string): boolean {
  switch (access) {
    case 'public':
    case 'authenticated':
      return true;
    case 'person':
      return caller.kind === 'user';
    case 'device':
    case 'enrolment':
    case 'agent':
      return caller.kind === access;
    default:
      return caller.scopesIn(workspace).has(access);
  }
}

function forbiddenDetail(access: Access): string {
  switch (access) {
    case 'person':
      return 'Only a signed-in person may do this: log in with a password.';
    case 'device':
      return 'Only a device may do this, with its device token.';
    case 'enrolment':
      return 'Only a join token or a delegate token is accepted here.';
    case 'agent':
      return 'Only an agent may do this, with its agent token.';
    default:
      return (PERSON_ONLY_SCOPES as ReadonlySet<Access>).has(access)
        ? `This needs a signed-in person with the scope ${access}; no agent or token has it.`
        : `This needs the scope ${access}, which you do not hold here.`;
  }
}
