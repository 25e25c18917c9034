import { type Op, type Store, StoreError } from './ports.ts';
import type { Kind } from './record.ts';

/**
 * How much of the disk reserve has to be left for a write, by what it does. Each kind stops before the next one, so that
 * whoever may only do the former cannot take the room of the latter.
 */
export const LEAST_LEFT = {
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

/**
 * The store under all others: whoever writes and in whichever way, the last of the reserve is for what takes access away.
 *
 * @throws StoreError `full` for what would use it otherwise
 */
export function reservedStore<S extends Store>(store: S, isDiskFull: IsDiskFull): S {
  const requireRoom = () => {
    if (isDiskFull(LEAST_LEFT.trace)) throw new StoreError('full', 'the reserve of the disk');
  };
  return {
    ...store,
    async commit(workspace, ops, { fromReserve = false, ...context }) {
      if (!fromReserve && isTrace(ops)) requireRoom();
      return store.commit(workspace, ops, context);
    },
    async record(workspace, events) {
      requireRoom();
      return store.record(workspace, events);
    },
  };
}

/**
 * Returns true if a batch adds a record and removes none, or writes presence and sessions only. A batch with a deletion is
 * never a trace.
 */
function isTrace(ops: readonly Op[]): boolean {
  if (ops.some(({ op }) => op === 'delete')) return false;
  return ops.every((op) => op.op !== 'update' || TRACES.has(op.record.kind)) || ops.some(({ op }) => op === 'create');
}
