import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { CallContext } from '../base/operation.ts';
import { plainAddress } from '../base/origin.ts';
import { requireSession } from '../base/require-session.ts';
import type { NetworkServices } from '../state/services.ts';
import { requireAccount } from './users.ts';

/** Takes the locks of an account away, and what failed before. @returns how many locks there were */
export async function unlockUser(
  username: string,
  context: CallContext<Pick<NetworkServices, 'store' | 'logins'>>,
): Promise<number> {
  const { services, origin, requestId } = context;
  const { subject: actor } = requireSession(context.caller);
  const { name } = await requireAccount(username, context);
  const lifted = await services.logins.lift(name);
  const event = { type: 'account_unlocked', actor, result: 'ok', origin: plainAddress(origin), requestId } as const;
  await services.store.record(SYSTEM_WORKSPACE, [{ ...event, detail: { account: name, locks: lifted } }]);
  return lifted;
}
