import type { CallContext } from './operation.ts';
import type { CommitContext } from './ports.ts';

/** Who and why of the commits that one call makes. */
export function commitContext(
  { caller, requestId }: Pick<CallContext<unknown>, 'caller' | 'requestId'>,
  reason: string,
  extra: Partial<Pick<CommitContext, 'approval' | 'direct' | 'securityEvents' | 'basis'>> = {},
): CommitContext {
  return { actor: caller.subject, reason, requestId, ...extra };
}
