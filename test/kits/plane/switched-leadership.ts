import { SOLE_LEADER } from '../../../core/base/leader.ts';

/** Leads all workspaces or none, as the test says. */
export function switchedLeadership(leadsAtFirst: boolean) {
  const listeners = new Set<() => unknown>();
  let leads = leadsAtFirst;
  return {
    ...SOLE_LEADER,
    leads: () => leads,
    onChange(listener: () => unknown) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    /** Resolves once all have followed. */
    async set(to: boolean): Promise<void> {
      leads = to;
      await Promise.all([...listeners].map((listener) => listener()));
    },
  };
}
