import { type CommitContext, type Op, StoreError } from './ports.ts';
import type { Kind } from './record.ts';

/**
 * How much of the disk reserve has to be left for a write, by what it does. Each kind stops before the next one, so that
 * whoever may only do the former cannot take the room of the latter.
 */
export const RESERVE_LEVELS = {
  /** New records. */
  new: 1,
  /** Changes of records that are there: they may take access away. */
  change: 0.5,
  /** Writes that anybody causes, such as a login, a node that comes or goes, a refusal in the audit log. */
  trace: 0.25,
  /** Writes that take access away or free room. */
  removal: 0,
} as const;

/** Returns true if less than a share of the reserve is left on the disk of the store. */
export type IsDiskFull = (share: number) => boolean;

/** Written for those who are signed in or connected, without a call that asks for it. */
const TRACES: ReadonlySet<Kind> = new Set<Kind>(['Presence', 'Session']);

/** @throws StoreError `full` for a batch that would use the last of the reserve, which is for what takes access away */
export function reserveRoom<D extends { readonly ops: readonly Op[]; readonly context: CommitContext }>(
  draft: D,
  { isDiskFull }: { readonly isDiskFull?: IsDiskFull | undefined },
): D {
  const { fromReserve, ...context } = draft.context;
  if (!fromReserve && isTrace(draft.ops)) requireEventRoom(isDiskFull);
  return { ...draft, context };
}

/** @throws StoreError `full` where no security event may use the disk any more */
export function requireEventRoom(isDiskFull: IsDiskFull | undefined): void {
  if (isDiskFull?.(RESERVE_LEVELS.trace)) throw new StoreError('full', 'the reserve of the disk');
}

/**
 * Returns true if a batch adds a record and removes none, or writes presence and sessions only. A batch with a deletion is
 * never a trace.
 */
function isTrace(ops: readonly Op[]): boolean {
  if (ops.some(({ op }) => op === 'delete')) return false;
  return ops.every((op) => op.op !== 'update' || TRACES.has(op.record.kind)) || ops.some(({ op }) => op === 'create');
}
