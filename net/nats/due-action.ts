import type { Limits } from './limits.ts';
import type { Session } from './session.ts';

/** The action that is due on a connection: a ping, or its end for a reason. */
export type DueAction = 'ping' | 'auth-timeout' | 'expired' | 'slow' | 'stale';

/** The last words to a connection that ends for it. */
export const LAST_WORDS: Readonly<Record<Exclude<DueAction, 'ping' | 'slow'>, string>> = {
  'auth-timeout': 'Authentication Timeout',
  expired: 'User Authentication Expired',
  stale: 'Stale Connection',
};

/** Looks at one connection; notes when it is to be pinged next. */
export function dueActionOf(session: Session, now: number, limits: Limits): DueAction | undefined {
  const { authTimeoutMs, writeDeadlineMs, pingIntervalMs, maxPingsOut } = limits;
  if (session.awaitingAuth && now - session.since >= authTimeoutMs) return 'auth-timeout';
  if (session.credentialExpiresAt <= now) return 'expired';
  if (session.inFlight > 0 && now - session.writingSince >= writeDeadlineMs) return 'slow';
  if (now < session.nextPingAt) return undefined;
  session.nextPingAt = now + pingIntervalMs;
  if (session.active) {
    session.active = false;
    session.pingsOut = 0;
  }
  return session.pingsOut >= maxPingsOut ? 'stale' : 'ping';
}
