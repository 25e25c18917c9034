import type { CallContext } from './operation.ts';
import type { CommitContext } from './ports.ts';

/** Returns the commit context, with actor and reason, for the commits of one call. */
export function commitContext(
  { caller, requestId }: Pick<CallContext<unknown>, 'caller' | 'requestId'>,
  reason: string,
  extra: Partial<
    Pick<CommitContext, 'approval' | 'direct' | 'securityEvents' | 'readSet' | 'requireAtCommit' | 'weighedAt'>
  > = {},
): CommitContext {
  return { actor: caller.subject, reason, requestId, ...extra };
}
