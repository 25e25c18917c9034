import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { type QuotaKey, type QuotaKind, quotaKeysOf, quotaName } from '../core/base/quotas.ts';
import { createRateWindows, type RateWindows } from './rate-windows.ts';

export const WINDOW_MS = 60_000;
export const MAX_KEYS = 50_000;

/**
 * How many times what one source address may ask without a credential. At 6,000 a minute a principal may ask 500 times
 * a second, half of it from one sub-agent, and a workspace 2,000 times: far from all that one core answers.
 */
const TIMES: Readonly<Record<QuotaKind, number>> = { workspace: 20, principal: 5, agent: 2.5 };

/** @returns a count of one request. @throws MeshError `rate_limited` when the caller, its line or its workspace asked too often */
export function limitPrincipals(
  perMinute: number,
  windows: RateWindows = createRateWindows(WINDOW_MS, MAX_KEYS),
): (caller: Caller, now: number) => void {
  return (caller, now) => {
    const { workspaces } = caller;
    // Which of several workspaces a request is for is not known yet.
    const keys = quotaKeysOf(caller, workspaces !== 'all' && workspaces.length === 1 ? workspaces : []);
    const counted = keys.map((key) => {
      const limit = perMinute * TIMES[key.kind];
      return { key, limit, window: windows.at(quotaName(key), limit, now) };
    });
    // A refused request counts for nobody: a caller that asks too often takes nothing from the others of its workspace.
    const full = counted.find(({ limit, window }) => window.count + window.others >= limit);
    if (full) throw tooMany(full.key, full.window.resetAt - now);
    for (const { window } of counted) window.count++;
  };
}

function tooMany({ kind }: QuotaKey, waitMs: number): MeshError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const whose = kind === 'workspace' ? 'Too many requests in this workspace' : 'Too many requests of yours';
  return new MeshError('rate_limited', `${whose}: wait ${retryAfterSeconds} s and try again.`, {
    limit: 'requests',
    share: kind,
    retryAfterSeconds,
  });
}
