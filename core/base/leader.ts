import { SYSTEM_WORKSPACE } from './ids.ts';
import { type Store, StoreError } from './ports.ts';

/** Where this control plane does what is to be done once, whoever else runs on the same store. */
export interface Leader {
  leads(workspace: string): boolean;
  /**
   * The store as the present leader of a workspace writes to it: nothing once another one leads. What is done in one go is
   * done through one of them, so that a later tenure of the same plane does not finish what an earlier one began.
   */
  under(store: Store, workspace: string): Store;
}

/** The `Leader` of the only control plane. */
export const SOLE_LEADER: Leader = { leads: () => true, under: (store) => store };

/** The same services over the store of {@link Leader.under}. */
export function servicesUnder<S extends { readonly store: Store }>(leading: Leader, services: S, workspace: string): S {
  const store = leading.under(services.store, workspace);
  return store === services.store ? services : { ...services, store };
}

/** Does work as the leader of a workspace, where this process is. What the next leader is to do is no failure. */
export async function asLeader<S extends { readonly store: Store }, T>(
  leading: Leader,
  services: S,
  workspace: string,
  work: (services: S) => Promise<T>,
): Promise<T | undefined> {
  if (!leading.leads(workspace)) return undefined;
  try {
    return await work(servicesUnder(leading, services, workspace));
  } catch (error) {
    if (isFenced(error)) return undefined;
    throw error;
  }
}

/**
 * Does the work of a job in every workspace that is led here, also in those that were deleted, whose history stays until
 * retention. One that fails does not keep the others from theirs; the failure is thrown at the end, so that the job is
 * tried again.
 *
 * @returns the earliest of the instants that the work answered; other answers are passed over.
 */
export async function eachLedWorkspace<S extends { readonly store: Store }>(
  leading: Leader,
  services: S,
  work: (workspace: string, services: S) => Promise<unknown>,
): Promise<number | undefined> {
  let next: number | undefined;
  const failures: unknown[] = [];
  for (const workspace of await services.store.workspaces()) {
    if (workspace === SYSTEM_WORKSPACE) continue;
    try {
      const due = await asLeader(leading, services, workspace, (led) => work(workspace, led));
      if (typeof due === 'number' && (next === undefined || due < next)) next = due;
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
  return next;
}

export function isFenced(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'fenced';
}
