import type { AnyOperation } from '../../core/base/operation.ts';
import type { Services } from '../../core/workflow/services.ts';
import type { Standing, Verdict } from './standing.ts';

/** What of a definition decides. */
export type Defined = Pick<AnyOperation<Services>, 'access' | 'name' | 'problems' | 'workspace'>;
type Known = Exclude<Standing, { readonly refused: string }>;

/** Operations that take no token, whatever its scopes: a person has to be logged in. */
const SESSIONS_ONLY: ReadonlySet<string> = new Set([
  'add_passkey',
  'adopt_peer',
  'allow_client_request',
  'allow_command_line',
  'begin_otp',
  'begin_passkey',
  'change_password',
  'confirm_otp',
  'create_api_token',
  'disable_otp',
  'end_client_grant',
  'end_session',
  'get_client_request',
  'get_otp_state',
  'decide_review_items',
  'deny_client_request',
  'finish_review',
  'list_client_grants',
  'list_sessions',
  'log_out',
  'log_out_everywhere',
  'remove_member',
  'remove_passkey',
  'renew_recovery_codes',
  'set_member',
  'start_review',
  'update_workspace',
]);

/** What no agent does, whatever it holds: it would outlive its own bounds. */
const ROOT_AGENTS: ReadonlySet<string> = new Set(['create_agent', 'renew_agent']);

/** What tells receivers outside is for people, also by a token; one that is made is refused for its fields before. */
const PEOPLE_ONLY = /^(?!create_).*(_webhook|_webhooks|_webhook_(secret|delivery|deliveries)|_dead_deliveries)$/;

/** What every member and device may do, and a token to join with may not: who holds it is no member yet. */
const MEMBERS_ONLY: ReadonlySet<string> = new Set(['get_audit_checkpoint', 'get_audit_proof']);

/** What tells of records by writing them. */
const WRITES_WHAT_IS_THERE: ReadonlySet<string> = new Set([
  ...['policy', 'network', 'assertion'].flatMap((kind) => [`create_${kind}`, `update_${kind}`, `delete_${kind}`]),
  'apply_resources',
  ...['update_peer', 'delete_peer', 'approve_peer', 'revoke_peer', 'adopt_peer'],
  ...['revoke_agent', 'renew_agent'],
]);

/** What a person may do before the first password is changed. */
const BEFORE_PASSWORD_CHANGE: ReadonlySet<string> = new Set(['change_password', 'get_me', 'log_out']);

/** The verdict that follows from the definition of an operation and from what a credential was given. */
export function expectedOf(operation: Defined, standing: Standing): Verdict {
  if (operation.access === 'public') return 'yes';
  if ('refused' in standing) return standing.refused;
  if (standing.mustChangePassword && !BEFORE_PASSWORD_CHANGE.has(operation.name)) return 'password';
  if (operation.workspace === 'scoped' && standing.member === false) return '404';
  if (!isHeld(operation, standing)) return '403';
  if (WRITES_WHAT_IS_THERE.has(operation.name) && !standing.scopes.has('network:read')) return '403';
  if (SESSIONS_ONLY.has(operation.name) && !standing.interactive) return 'own';
  if (ROOT_AGENTS.has(operation.name) && standing.kind === 'agent') return 'own';
  if (PEOPLE_ONLY.test(operation.name) && standing.kind === 'agent') return 'own';
  if (MEMBERS_ONLY.has(operation.name) && standing.kind === 'enrolment') return 'own';
  // Without the scope an agent still reads those of its own line.
  if (operation.name === 'get_agent' && !standing.scopes.has('network:read')) return 'own';
  return standing.pending && operation.problems.includes('peer_pending') ? 'pending' : 'yes';
}

/** Subscriptions do not tell a resource that may not be read from one that is not there. */
export function expectedOfWatching(reading: Defined, standing: Standing): Verdict {
  const verdict = expectedOf(reading, standing);
  return verdict === 'yes' || 'refused' in standing ? verdict : 'no';
}

/** A completion offers what the list behind it shows, and else nothing. */
export function expectedOfCompletion(listing: Defined | undefined, standing: Standing): Verdict {
  if ('refused' in standing) return standing.refused;
  // The workspaces of a platform administrator are too many to offer.
  if (!listing) return standing.member === true ? 'yes' : 'no';
  return expectedOf(listing, standing) === 'yes' ? 'yes' : 'no';
}

function isHeld({ access, workspace }: Defined, { kind, scopes, member, elsewhere }: Known): boolean {
  switch (access) {
    case 'public':
    case 'authenticated':
      return true;
    case 'person':
      return kind === 'user';
    case 'device':
    case 'enrolment':
    case 'agent':
      return kind === access;
    default:
      // What is of no workspace is for those who are at home in all.
      if (workspace === 'none') return member === 'all' && scopes.has(access);
      return scopes.has(access) || (workspace === 'any' && elsewhere?.has(access) === true);
  }
}
