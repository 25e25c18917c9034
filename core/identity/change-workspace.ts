import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { SYSTEM_WORKSPACE } from '../base/ids.ts';
import { draftOf } from '../base/record.ts';
import { requireSession } from '../base/require-session.ts';
import { writtenRecord } from '../base/written-record.ts';
import { sameValue } from '../model/value.ts';
import {
  type ComplianceSettings,
  type Owner,
  SCHEDULE_NAMES,
  scheduleIn,
  type WorkspaceRecord,
  type WorkspaceSettings,
  type WorkspaceSpec,
  workspaceById,
} from '../model/workspaces.ts';
import type { PeerCall, StoreCall } from '../state/services.ts';
import { emptyWorkspace } from './empty-workspace.ts';

/** Absent fields stay; null unsets. */
export interface WorkspacePatch {
  readonly displayName?: string | undefined;
  readonly maxNodeCount?: number | undefined;
  readonly settings?: SettingsPatch | undefined;
}

interface SettingsPatch extends Patch<Omit<WorkspaceSettings, 'compliance'>> {
  readonly compliance?: Patch<ComplianceSettings> | null | undefined;
}

type Patch<T> = { readonly [K in keyof T]?: T[K] | null | undefined };

/**
 * Changes a workspace. Only a logged-in person may: the settings decide what is done without one.
 * The node count is the installation's to give, so it takes a platform administrator.
 */
export async function updateWorkspace(
  asked: WorkspacePatch | ((now: WorkspaceRecord) => WorkspacePatch),
  context: StoreCall,
): Promise<WorkspaceRecord> {
  const caller = requireSession(context.caller);
  const { services, workspace: id } = context;
  const workspace = await workspaceById(services, id);
  const patch = typeof asked === 'function' ? asked(workspace) : asked;
  const { displayName = workspace.spec.displayName, maxNodeCount = workspace.spec.maxNodeCount } = patch;
  if (maxNodeCount !== workspace.spec.maxNodeCount && !caller.scopesIn(id).has('workspaces:write')) {
    throw new MeshError('forbidden', 'Only a platform administrator changes maxNodeCount.', {
      scope: 'workspaces:write',
    });
  }
  const { compliance, ...others } = patch.settings ?? {};
  const old = workspace.spec.settings;
  const merged = compliance ? patched(old.compliance ?? {}, compliance) : compliance;
  const settings = patched(old, { ...others, compliance: merged }) as WorkspaceSettings;
  const scheduleOwners = ownersAfter(workspace.spec, settings, { id: caller.id, name: caller.name });
  const spec = { ...workspace.spec, displayName, maxNodeCount, settings, ...(scheduleOwners && { scheduleOwners }) };
  const op = { op: 'update', record: { ...draftOf(workspace), spec }, revision: workspace.revision } as const;
  const commit = commitContext(context, `changed workspace ${workspace.name}`);
  return writtenRecord(await services.store.commit(SYSTEM_WORKSPACE, [op], commit), workspace);
}

/**
 * Deletes a workspace that has no peers. All that is in it goes with it; its history stays until retention.
 *
 * @throws MeshError `conflict` while it has peers.
 */
export async function deleteWorkspace(context: PeerCall): Promise<void> {
  requireSession(context.caller);
  const { services, workspace: id } = context;
  const { store } = services;
  const workspace = await workspaceById(services, id);
  const { items } = await store.list(id, 'MeshPeer', { limit: 1 });
  if (items.length > 0) {
    throw new MeshError('conflict', `Workspace ${workspace.name} has peers: delete them first.`);
  }
  const commit = commitContext(context, `deleted workspace ${workspace.name}`);
  const key = { kind: 'Workspace', name: workspace.name } as const;
  await store.commit(SYSTEM_WORKSPACE, [{ op: 'delete', key, revision: workspace.revision }], commit);
  await emptyWorkspace(services, id, commit);
}

/** Returns who owns each schedule: whoever made or changed it last. Undefined where nobody owns one, nor did before. */
function ownersAfter(
  { settings: old, scheduleOwners }: WorkspaceSpec,
  settings: WorkspaceSettings,
  caller: Owner,
): WorkspaceSpec['scheduleOwners'] {
  const owners = SCHEDULE_NAMES.flatMap((name) => {
    const is = scheduleIn(settings, name);
    if (!is) return [];
    const owner = sameValue(is, scheduleIn(old, name) ?? {}) ? scheduleOwners?.[name] : caller;
    return owner === undefined ? [] : [[name, owner] as const];
  });
  return owners.length === 0 && !scheduleOwners ? undefined : Object.fromEntries(owners);
}

function patched<T extends object>(old: T, patch: Patch<T>): Partial<T> {
  const sent = Object.entries(patch).filter(([, value]) => value !== undefined);
  const merged = Object.entries({ ...old, ...Object.fromEntries(sent) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null)) as Partial<T>;
}
