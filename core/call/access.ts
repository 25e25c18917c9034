import type { Caller, Restriction } from '../base/caller.ts';
import { MeshError, type ProblemCode } from '../base/errors.ts';
import type { AnyOperation } from '../base/operation.ts';
import { type Access, PERSON_ONLY_SCOPES, type Scope } from '../base/scope.ts';

type GuardedOperation = Pick<AnyOperation<never>, 'access' | 'effects' | 'addresses'>;

const OTHER_PASSWORD = {
  code: 'password_change_required',
  message: 'Change the password first: PUT /api/v1/users/me/password.',
  lifting: new Set(['change_password', 'get_me', 'log_out']),
} as const;

/** Refusals of restricted sessions, and the operations that they may call. */
const RESTRICTIONS: Readonly<
  Record<Restriction, { code: ProblemCode; message: string; lifting: ReadonlySet<string> }>
> = {
  'initial password': OTHER_PASSWORD,
  'old password': OTHER_PASSWORD,
  'no second factor': {
    code: 'second_factor_required',
    message: 'Administrators need a second factor here. Enrol one: mesh otp enroll, or POST /api/v1/users/me/otp.',
    lifting: new Set([
      'change_password',
      'get_me',
      'get_otp_state',
      'begin_otp',
      'confirm_otp',
      'begin_passkey',
      'add_passkey',
      'log_out',
    ]),
  },
};

/** @throws MeshError `forbidden`, `password_change_required`, `second_factor_required` */
export function requireAccess(
  operation: GuardedOperation & { readonly name: string },
  caller: Caller,
  workspace: string,
) {
  const { access } = operation;
  if (access === 'public') return;
  requireUnrestricted(operation, caller);
  if (!mayAccess(access, caller, workspace)) {
    throw new MeshError('forbidden', forbiddenDetail(access), { scope: access });
  }
  const missing = readScopeOf(operation);
  if (!missing || mayAccess(missing, caller, workspace)) return;
  const detail = `This needs the scope ${missing} besides ${access}: what it answers and refuses tells what is there.`;
  throw new MeshError('forbidden', detail, { scope: missing });
}

/** Checked before workspaces: a restricted session is a member of none. @throws MeshError */
export function requireUnrestricted({ name, access }: Pick<AnyOperation<never>, 'name' | 'access'>, caller: Caller) {
  const restriction = caller.restriction && RESTRICTIONS[caller.restriction];
  if (!restriction || access === 'public' || restriction.lifting.has(name)) return;
  throw new MeshError(restriction.code, restriction.message);
}

/** Tells whether a caller may use an operation in this workspace; also decides which tools it sees. */
export function mayCall(operation: GuardedOperation, caller: Caller, workspace: string): boolean {
  const alsoNeeded = readScopeOf(operation);
  return mayAccess(operation.access, caller, workspace) && (!alsoNeeded || mayAccess(alsoNeeded, caller, workspace));
}

/** Scopes whose answers and refusals reveal the network. */
const REVEALING: ReadonlySet<Access> = new Set(['network:write', 'intents:plan']);

/**
 * The scope that a change of the network, a plan of one, or a write of a record that is there needs besides its own. Answers,
 * entity tags, revisions, effects and taken names all tell of records, so who may not read those may not write them.
 */
export function readScopeOf({ access, effects, addresses }: GuardedOperation): Scope | undefined {
  return REVEALING.has(access) || (!effects.readOnlyHint && addresses !== undefined) ? 'network:read' : undefined;
}

/** Tells whether a caller has this access in this workspace. */
export function mayAccess(access: Access, caller: Caller, workspace: string): boolean {
  switch (access) {
    case 'public':
      return true;
    case 'authenticated':
      return caller.kind !== 'anonymous';
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
