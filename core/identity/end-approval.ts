import { MeshError } from '../base/errors.ts';
import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import type { WorkspaceRecord } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';

/** Type of the entry in the audit log of the workspace. */
export const APPROVAL_ENDED = 'approval.ended';
const ACTOR = 'system:operator';
const REASON = 'meshd end-approval: no second person is needed any more';

/**
 * Ends the need for a second person in a workspace, for whoever runs the host: people approve their own requests from then
 * on, whatever controls fail. The log of the installation and that of the workspace say so, and `get_overview` for a while.
 *
 * @param name id, slug or namespace
 * @throws MeshError `not_found`; `conflict` where no second person is needed
 */
export async function endApproval(
  { store, clock }: Pick<NetworkServices, 'store' | 'clock'>,
  name: string,
): Promise<WorkspaceRecord> {
  return serialized(store, SYSTEM_WORKSPACE, async () => {
    const { items } = await store.list(SYSTEM_WORKSPACE, 'Workspace');
    const names: readonly ((one: WorkspaceRecord) => string)[] = [
      ({ uid }) => uid,
      ({ spec }) => spec.slug,
      ({ spec }) => spec.namespace,
    ];
    const workspace = names.map((of) => items.find((one) => of(one) === name)).find((one) => one !== undefined);
    if (!workspace) throw new MeshError('not_found', `There is no workspace ${name}: name its id, slug or namespace.`);
    const { settings } = workspace.spec;
    if (settings.selfApproval === true && !settings.compliance?.secondPerson) {
      throw new MeshError(
        'conflict',
        `The workspace ${name} needs no second person: its administrators approve alone.`,
      );
    }
    const { secondPerson: _, ...compliance } = settings.compliance ?? {};
    const spec = {
      ...workspace.spec,
      settings: { ...settings, selfApproval: true, ...(settings.compliance && { compliance }) },
      approvalEndedAt: clock.now(),
    };
    const requestId = newId('r');
    const op = { op: 'update', record: { ...draftOf(workspace), spec }, revision: workspace.revision } as const;
    await store.commit(SYSTEM_WORKSPACE, [op], { actor: ACTOR, reason: REASON, requestId });
    const event = { type: APPROVAL_ENDED, actor: ACTOR, result: 'ok', detail: { reason: REASON }, requestId } as const;
    await store.record(workspace.uid, [event]);
    return workspace;
  });
}
