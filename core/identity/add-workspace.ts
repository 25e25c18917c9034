import type { Caller } from '../base/caller.ts';
import { commitContext } from '../base/commit-context.ts';
import { MeshError } from '../base/errors.ts';
import { newId, SYSTEM_WORKSPACE } from '../base/ids.ts';
import { type CommitContext, type Op, StoreError } from '../base/ports.ts';
import { writtenRecord } from '../base/written-record.ts';
import { type IpRange, parseCidr } from '../model/cidr.ts';
import { freeBlock, prefixFor } from '../model/free-block.ts';
import { DEFAULT_NETWORK, type NetworkSpec } from '../model/resources.ts';
import { DEFAULT_SETTINGS, type WorkspaceRecord, type WorkspaceSpec } from '../model/workspaces.ts';
import type { NetworkServices, StoreCall } from '../state/services.ts';
import { memberDraft } from './members.ts';

export type NewWorkspace = Omit<WorkspaceSpec, 'settings'>;

/**
 * Creates a workspace, its default network and the membership of its creator, or nothing.
 *
 * The two partitions cannot be written in one commit. What is in the new partition counts only once the workspace is in
 * the directory, so that goes last; when it is refused, the partition is emptied again, and after a crash by
 * `emptyIfGone`.
 *
 * @param cidr the block of its network, or `next-free`
 */
export async function addWorkspace(
  { cidr: asked, ...workspace }: NewWorkspace & { readonly cidr?: string | undefined },
  context: StoreCall,
): Promise<WorkspaceRecord> {
  const { store } = context.services;
  await requireFree(store, workspace);
  const id = newId('w');
  const commit = commitContext(context, `created workspace ${workspace.slug}`);
  const cidr = await blockFor(store, workspace.maxNodeCount, asked);
  const contents = contentsOf(cidr, context.caller);
  await store.commit(id, contents, commit);
  try {
    const record = draftOfWorkspace(id, workspace);
    return writtenRecord(await store.commit(SYSTEM_WORKSPACE, [{ op: 'create', record }], commit), record);
  } catch (error) {
    await empty(store, id, contents, commit);
    throw error instanceof StoreError && (error.code === 'unique' || error.code === 'already_exists')
      ? taken(workspace)
      : error;
  }
}

function draftOfWorkspace(uid: string, workspace: NewWorkspace) {
  return {
    kind: 'Workspace',
    name: workspace.slug,
    uid,
    labels: {},
    annotations: {},
    spec: { ...workspace, settings: DEFAULT_SETTINGS } satisfies WorkspaceSpec,
    status: {},
    unique: uniqueOf(workspace),
  } as const;
}

/** Slugs and namespaces are one name space, for either names a workspace in a request. */
function uniqueOf({ slug, namespace }: NewWorkspace): readonly string[] {
  return [...new Set([slug, namespace])].map((word) => `workspace-name:${word}`);
}

function contentsOf(cidr: string, creator: Caller): readonly Extract<Op, { op: 'create' }>[] {
  const spec: NetworkSpec = { cidr, mtu: 1_280, defaultAction: 'ALLOW' };
  const blank = { labels: {}, annotations: {}, status: {}, unique: [] } as const;
  const network = { ...blank, kind: 'MeshNetwork', name: DEFAULT_NETWORK, uid: newId('net'), spec } as const;
  const ops = [{ op: 'create', record: network } as const];
  if (creator.kind !== 'user') return ops;
  return [...ops, { op: 'create', record: memberDraft(creator.name, 'admin') }];
}

/** Workspaces of older versions hold their names in no common name space, so all are looked through. */
async function requireFree(store: Pick<NetworkServices['store'], 'list'>, workspace: NewWorkspace): Promise<void> {
  const { items } = await store.list(SYSTEM_WORKSPACE, 'Workspace');
  const used = new Set(items.flatMap(({ uid, spec }) => [uid, spec.slug, spec.namespace]));
  if (used.has(workspace.slug) || used.has(workspace.namespace)) throw taken(workspace);
}

function taken({ slug, namespace }: NewWorkspace): MeshError {
  return new MeshError(
    'conflict',
    `The slug ${slug} or the namespace ${namespace} is in use already, as slug or namespace: choose others.`,
  );
}

async function empty(
  store: Pick<NetworkServices['store'], 'commit'>,
  id: string,
  contents: readonly Extract<Op, { op: 'create' }>[],
  commit: CommitContext,
): Promise<void> {
  const ops = contents.map(({ record: { kind, name } }) => ({ op: 'delete', key: { kind, name } }) as const);
  await store.commit(id, ops, { ...commit, reason: `${commit.reason}: undone, it was refused` });
}

/** The block of the first workspace of the contract, or as wide from there as its nodes need. */
const FIRST_BLOCK = '10.96.0.0';
/** Asks for the next block that no network of the installation has. */
export const NEXT_FREE = 'next-free';

async function blockFor(store: StoreCall['services']['store'], nodes: number, asked: string | undefined) {
  const prefix = prefixFor(nodes);
  if (asked === undefined) return `${FIRST_BLOCK}/${prefix}`;
  if (asked !== NEXT_FREE) return asked;
  const workspaces = (await store.list(SYSTEM_WORKSPACE, 'Workspace')).items;
  const taken: IpRange[] = [];
  for (const { uid } of workspaces) {
    const { items } = await store.list(uid, 'MeshNetwork');
    const blocks = items.flatMap(({ spec, status }) => [spec.cidr, status.former?.cidr ?? []].flat());
    taken.push(...blocks.flatMap((cidr) => parseCidr(cidr) ?? []));
  }
  const block = freeBlock(prefix, taken);
  if (block === undefined) throw new MeshError('conflict', `No block with a /${prefix} is free: name one as cidr.`);
  return block;
}
