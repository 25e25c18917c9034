import { plainAddress } from '../base/origin.ts';
import type { SecurityEvent } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import type { LoginAttempt } from '../model/services.ts';

/** Returns the audit events for a failed attempt that locks its account. */
export function lockEvents({ lockedUntil }: LoginAttempt, username: string, origin: string): readonly SecurityEvent[] {
  if (lockedUntil === undefined) return [];
  const detail = { until: formatInstant(lockedUntil) };
  return [
    { type: 'account_locked', actor: `user:${username}`, result: 'refused', origin: plainAddress(origin), detail },
  ];
}
