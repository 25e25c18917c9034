import type { Store } from '../../../core/base/ports.ts';

/** Operations that write more than once beside workflows, and what a process that dies in between leaves. */
const WRITE_SEVERAL_TIMES: Readonly<Record<string, string>> = {
  update_user: 'test/cut-short.test.ts',
  delete_user: 'test/cut-short.test.ts',
  remove_member: 'test/cut-short.test.ts',
  add_workspace: 'test/cut-short.test.ts',
  delete_workspace: 'test/cut-short.test.ts',
  apply_network_change: 'test/cut-short.test.ts',
  approve_workflow: 'test/cut-short.test.ts, and what it carries out',
  finish_issuer_sign_in: 'core/identity/issuer-sign-in.test.ts: the next sign-in does the rest',
  find_cause: 'each is a plan by itself, which ends with its time',
};

/** Counts the commits of each operation that is called: one that makes several says above what becomes of it. */
export function countCommits(store: Store) {
  /** By request. */
  const counts = new Map<string, number>();
  const commit = store.commit.bind(store);
  store.commit = async (workspace, ops, context) => {
    const done = await commit(workspace, ops, context);
    if (done.changes.some(({ record }) => record.kind !== 'Workflow')) {
      counts.set(context.requestId, (counts.get(context.requestId) ?? 0) + 1);
    }
    return done;
  };
  return {
    /** @throws Error for an operation that made several and does not say so */
    requireSaid(operation: string, requestId: string): void {
      const made = counts.get(requestId) ?? 0;
      counts.delete(requestId);
      if (made < 2 || Object.hasOwn(WRITE_SEVERAL_TIMES, operation)) return;
      throw new Error(`${operation} made ${made} commits: add it to test/cut-short.test.ts, and say so here.`);
    },
  };
}
