import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import type { Services } from '../core/workflow/services.ts';

/**
 * Does the work of a job in every workspace. One that fails does not keep the others from theirs; the failure is thrown
 * at the end, so that the job is tried again.
 *
 * @returns the earliest of the instants that the work answered; other answers are passed over.
 */
export async function eachWorkspace(
  { store }: Pick<Services, 'store'>,
  work: (workspace: string) => Promise<unknown>,
): Promise<number | undefined> {
  let next: number | undefined;
  const failures: unknown[] = [];
  for (const workspace of await workspaceIds(store)) {
    try {
      const due = await work(workspace);
      if (typeof due === 'number' && (next === undefined || due < next)) next = due;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return next;
}

/** Also those that were deleted, whose history stays until retention. */
async function workspaceIds(store: Services['store']): Promise<string[]> {
  return (await store.workspaces()).filter((workspace) => workspace !== SYSTEM_WORKSPACE);
}
