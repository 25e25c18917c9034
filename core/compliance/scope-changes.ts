import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import type { Change } from '../base/ports.ts';
import { formatInstant } from '../base/time.ts';
import { isOfKind } from '../base/written-record.ts';
import type { NetworkStep } from '../history/network-moments.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import { counted, listed } from './check-result.ts';
import type { ScopeRule } from './scope.ts';

/** Entries of the audit log about one workspace that are looked at. */
const MAX_ENTRIES = 50;

/**
 * Returns sentences about changes of the scope for an auditor: whether the settings, which are judged in their present form,
 * changed since the period began, and which peers left the scope during the period.
 */
export async function scopeChanges(
  { store }: Pick<NetworkServices, 'store'>,
  workspace: string,
  { from, rule, steps }: { readonly from: number; readonly rule: ScopeRule; readonly steps: readonly NetworkStep[] },
): Promise<string[]> {
  const { name, uid } = await workspaceById({ store }, workspace);
  const query = { kind: 'Workspace', name, type: 'commit', from, limit: MAX_ENTRIES } as const;
  const entries = (await store.audit(SYSTEM_WORKSPACE, query)).filter(({ commit }) =>
    commit?.changes.some((change) => change.uid === uid && change.type === 'updated'),
  );
  const [latest] = entries;
  const left = steps.flatMap(({ at, revision, changes }) =>
    changes
      .filter((change) => leaves(change, changes, rule))
      .map(({ type, record }) => {
        const how = type === 'deleted' ? 'deleted' : 'labels changed';
        return { record, when: `${how} at ${formatInstant(at)} by revision ${revision}` };
      }),
  );
  // A peer that came back and left again counts once.
  const gone = [...Map.groupBy(left, ({ record }) => record.uid)].map(
    ([uid, times]) => `${times.at(-1)?.record.name} (${uid}, ${times.map(({ when }) => when).join(', and ')})`,
  );
  return [
    ...(latest
      ? [
          `The settings of the workspace were changed ${counted(entries.length, 'time')} since the period began, last at ${formatInstant(latest.at)} by ${latest.actor}: who is in scope is judged by those of now.`,
        ]
      : []),
    ...(gone.length > 0 ? [`${counted(gone.length, 'peer')} left the scope in the period: ${listed(gone)}.`] : []),
  ];
}

/** A peer that has another name now is still there. */
function leaves(change: Change, all: readonly Change[], { includes }: ScopeRule): boolean {
  if (!isOfKind(change, 'MeshPeer') || !change.before || !includes(change.before.labels)) return false;
  const { uid } = change.record;
  if (change.type === 'updated') return !includes(change.record.labels);
  return !all.some(({ type, record }) => type === 'created' && record.uid === uid && includes(record.labels));
}
