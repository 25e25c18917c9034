import type { Problem } from '../../core/base/errors.ts';
import type { AnyOperation } from '../../core/base/operation.ts';
import type { Services } from '../../core/workflow/services.ts';
import type { Verdict } from './standing.ts';

/** What has to be known of an operation to read its refusals. */
export type Asked = Pick<AnyOperation<Services>, 'access' | 'name' | 'problems'>;

/** Told by the gate and by no operation. */
const NO_WORKSPACE = /^There is no workspace \S+ that you are a member of\.$/;
const SHUT_OUT = 'This device was revoked by an administrator.';

/**
 * The verdict that a problem is: the gate's own refusals are told from what the operation answered by what they say.
 *
 * @throws Error for an answer that tells nothing of rights, such as a limit or a bug
 */
export function verdictOf({ access, name, problems }: Asked, problem: Problem): Verdict {
  const { status, code, detail } = problem;
  if (!problems.includes(code) && (status >= 500 || status === 402 || status === 429))
    throw new Error(`${name} answered ${status}: ${detail}`);
  switch (code) {
    case 'unauthenticated':
      return '401';
    case 'password_change_required':
      return 'password';
    case 'peer_pending':
      return 'pending';
    case 'forbidden':
      return problem['scope'] === access || detail === SHUT_OUT ? '403' : 'own';
    case 'not_found':
      return NO_WORKSPACE.test(detail) ? '404' : 'yes';
    default:
      return 'yes';
  }
}
