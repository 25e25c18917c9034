import { lineText } from '../base/as-data.ts';
import type { Caller } from '../base/caller.ts';
import type { MeshError, ProblemCode } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { plainAddress } from '../base/origin.ts';
import { type SecurityEvent, StoreError } from '../base/ports.ts';
import type { WorkspaceDirectory } from '../identity/workspace-directory.ts';
import { sourceSite } from '../model/source-network.ts';
import { tokenPattern } from '../model/token.ts';
import type { Services } from '../workflow/services.ts';
import type { CallRequest } from './invoke.ts';

/** Refusals that say something about access; wrong input and conflicts are no security events. */
const COUNTED: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'unauthenticated',
  'forbidden',
  'beyond_delegation',
  'password_change_required',
  'second_factor_required',
  'rate_limited',
]);

/** Different refusals kept between two flushes; more are added up as one. */
const MAX_COUNTED = 1_000;

/** Characters of a reason that an entry keeps. */
const MAX_REASON = 400;

/** Characters behind `mesh-api-` and its like that make a token: names of peers can begin so. */
const LEAST_OF_TOKEN = 20;

interface Refusal {
  readonly workspace: string;
  readonly event: SecurityEvent;
  readonly from: number;
  count: number;
}

/** Record their refusals themselves. */
const SIGN_INS: ReadonlySet<string> = new Set(['log_in', 'log_in_with_passkey']);

/**
 * Counts refused calls by source, caller, operation and code, so that a flood leaves a handful of audit entries, each with the
 * reason of its first refusal.
 */
export interface RefusalLog {
  /** @param workspace of the call, where it came so far */
  count(operation: string, error: MeshError, request: CallRequest, caller: Caller, workspace?: string): void;
  flush(): Promise<void>;
}

export function buildRefusalLog(
  { store, clock, log }: Pick<Services, 'store' | 'clock' | 'log'>,
  directory: Pick<WorkspaceDirectory, 'find'>,
): RefusalLog {
  let counted = new Map<string, Refusal>();

  /** They are written once there is room. */
  function keepCounting(refusals: readonly (readonly [string, Refusal])[]): void {
    for (const [key, refusal] of refusals) {
      counted.set(key, { ...refusal, count: refusal.count + (counted.get(key)?.count ?? 0) });
    }
  }

  return {
    count(operation, { code, cause, message }, { origin: from }, caller, called) {
      if (!COUNTED.has(code)) return;
      // A failed login is recorded on its own, with the account it was for, as long as the store takes it.
      if (SIGN_INS.has(operation) && code !== 'rate_limited' && !(cause instanceof StoreError)) return;
      const origin = plainAddress(from);
      const actor = caller.subject;
      const workspace = called ?? onlyWorkspaceOf(caller) ?? SYSTEM_WORKSPACE;
      const full = counted.size >= MAX_COUNTED;
      const key = full ? 'more' : [workspace, sourceSite(from), actor, operation, code].join(' ');
      const known = counted.get(key);
      if (known) {
        known.count += 1;
        return;
      }
      // A message may repeat a token that the caller sent.
      const reason = lineText(message).replaceAll(tokenPattern(LEAST_OF_TOKEN), '[removed]').slice(0, MAX_REASON);
      const event: SecurityEvent = full
        ? { type: 'refused', actor: 'anonymous', result: 'refused', detail: { operation: 'more' } }
        : { type: 'refused', actor, result: 'refused', origin, detail: { operation, code, reason } };
      counted.set(key, { workspace: full ? SYSTEM_WORKSPACE : workspace, event, from: clock.now(), count: 1 });
    },

    async flush() {
      if (counted.size === 0) return;
      const batch = counted;
      counted = new Map();
      const until = clock.now();
      for (const [workspace, refusals] of Map.groupBy(batch, ([, refusal]) => refusal.workspace)) {
        const known = workspace === SYSTEM_WORKSPACE || (await directory.find(workspace)) !== undefined;
        const events = refusals.map(([, { event, from, count }]) => ({
          ...event,
          detail: { ...event.detail, count, seconds: Math.ceil((until - from) / 1_000) },
        }));
        try {
          await store.record(known ? workspace : SYSTEM_WORKSPACE, events);
        } catch (error) {
          if (error instanceof StoreError && error.code === 'full') {
            keepCounting(refusals);
            continue;
          }
          log.error({ err: error, events: events.length }, 'refusals could not be written to the audit log');
        }
      }
    },
  };
}

/** Returns the workspace of a caller who has one alone: before a call names one, a caller of several has none. */
function onlyWorkspaceOf({ workspaces }: Caller): string | undefined {
  return workspaces !== 'all' && workspaces.length === 1 ? workspaces[0] : undefined;
}
