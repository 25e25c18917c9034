import type { NetworkChange } from '../../changes/changes.ts';
import { lookUp } from '../../model/find.ts';
import type { NetworkState } from '../../state/state.ts';

/** Of each policy that is given an end: the time that approval takes is a part of it. */
export function endingTexts(changes: readonly NetworkChange[], before: Pick<NetworkState, 'policies'>): string[] {
  return changes.flatMap((change) => {
    if (change.action === 'delete' || change.resource !== 'MeshPolicy') return [];
    const { expiresAt } = change.spec;
    if (expiresAt === undefined || expiresAt === lookUp(before.policies, change.name)?.spec.expiresAt) return [];
    return [`${change.name} ends at ${expiresAt}, whenever it is approved: a later approval leaves less of its time`];
  });
}
