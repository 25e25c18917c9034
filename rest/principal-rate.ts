import type { Caller } from '../core/base/caller.ts';
import { MeshError } from '../core/base/errors.ts';
import { type ShareKey, type ShareKind, shareKeysOf } from '../core/base/shares.ts';
import { createRateWindows } from './rate-windows.ts';

const WINDOW_MS = 60_000;
const MAX_KEYS = 50_000;

/**
 * How many times what one source address may ask without a credential. At 6,000 a minute a principal may ask 500 times
 * a second, half of it from one sub-agent, and a workspace 2,000 times: far from all that one core answers.
 */
const TIMES: Readonly<Record<ShareKind, number>> = { workspace: 20, principal: 5, agent: 2.5 };

/** @returns a count of one request. @throws MeshError `rate_limited` when the caller, its line or its workspace asked too often */
export function limitPrincipals(perMinute: number): (caller: Caller, now: number) => void {
  const windows = createRateWindows(WINDOW_MS, MAX_KEYS);
  return (caller, now) => {
    const { workspaces } = caller;
    // Which of several workspaces a request is for is not known yet.
    const keys = shareKeysOf(caller, workspaces !== 'all' && workspaces.length === 1 ? workspaces : []);
    const counted = keys.map((key) => ({ key, window: windows.at(`${key.kind} ${key.id}`, now) }));
    // What is refused counts for nobody: who asks too often takes nothing from the others of its workspace.
    const full = counted.find(({ key, window }) => window.count >= perMinute * TIMES[key.kind]);
    if (full) throw tooMany(full.key, full.window.resetAt - now);
    for (const { window } of counted) window.count++;
  };
}

function tooMany({ kind }: ShareKey, waitMs: number): MeshError {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1_000));
  const whose = kind === 'workspace' ? 'Too many requests in this workspace' : 'Too many requests of yours';
  return new MeshError('rate_limited', `${whose}: wait ${retryAfterSeconds} s and try again.`, {
    limit: 'requests',
    share: kind,
    retryAfterSeconds,
  });
}
