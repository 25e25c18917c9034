import type { ProblemCode } from '../core/base/errors.ts';
import { type AnyOperation, mayWait, speaksWire } from '../core/base/operation.ts';

/** The problems of the checks before every operation, and those that may befall each. */
const ALWAYS: readonly ProblemCode[] = ['invalid_input', 'host_not_allowed', 'rate_limited', 'internal', 'unavailable'];
/** With a token: none or a bad one, one without the scope, one that may only choose a password, one of a pending peer. */
const CALLER_PROBLEMS: readonly ProblemCode[] = [
  'unauthenticated',
  'forbidden',
  'password_change_required',
  'second_factor_required',
  'peer_pending',
];
/** The problems that the store can report for a write: changed or taken meanwhile, gone, too large, no room. */
const WRITE_PROBLEMS: readonly ProblemCode[] = ['conflict', 'not_found', 'payload_too_large', 'storage_full'];
/** The problems that the guard of every write by people, their tokens and agents can report. */
const GUARDED: readonly ProblemCode[] = ['beyond_delegation', 'policy_assertion_failed'];
const WITH_BODY: readonly ProblemCode[] = ['payload_too_large', 'unsupported_media_type'];

/** True if the caller may state the version of the record that a write is for. */
export function isGuarded<Services>({ addresses, effects }: AnyOperation<Services>): boolean {
  return addresses !== undefined && !effects.readOnlyHint;
}

/** Every problem that an operation can answer over REST: what its definition implies, and its own. */
export function problemsOf<Services>(operation: AnyOperation<Services>): ReadonlySet<ProblemCode> {
  const { access, workspace, edition, proWhen, effects, http, problems } = operation;
  return new Set([
    ...ALWAYS,
    ...(access === 'public' ? [] : CALLER_PROBLEMS),
    ...(speaksWire(operation) ? (['unsupported_version'] as const) : []),
    ...(workspace === 'scoped' ? (['not_found'] as const) : []),
    ...(edition === 'pro' || proWhen ? (['edition_required'] as const) : []),
    ...(effects.readOnlyHint ? [] : WRITE_PROBLEMS),
    ...(mayWait(operation) ? GUARDED : []),
    ...(isGuarded(operation) ? (['precondition_failed'] as const) : []),
    ...(http.method === 'get' ? [] : WITH_BODY),
    ...problems,
  ]);
}
