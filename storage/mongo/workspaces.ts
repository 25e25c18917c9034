import type { ClientSession } from 'mongodb';
import type { AsOf } from '../../core/base/ports.ts';
import { StoreError } from '../../core/base/ports.ts';
import { unavailable } from '../unavailable.ts';
import type { Collections, Connection } from './connect.ts';
import type { WorkspaceDoc } from './documents.ts';
import { requireKnown } from './schema.ts';

type Range = Pick<WorkspaceDoc, 'compacted' | 'keep'>;

export async function findWorkspace(
  { workspaces }: Collections,
  name: string,
  session: ClientSession,
): Promise<WorkspaceDoc | undefined> {
  return (await workspaces.findOne({ _id: name }, { session })) ?? undefined;
}

/** Read in the transaction of a write, so that none comes after a move has begun, or a newer version has come. @throws StoreError `unavailable` */
export function requireHere({ moved, needs }: Pick<WorkspaceDoc, 'moved' | 'needs'>): void {
  requireKnown(needs);
  if (moved) throw unavailable('the database is being moved, or was: end this meshd, and start it on the new one');
}

/** @throws StoreError `compacted` */
export async function resolveAsOf(
  connection: Collections,
  workspace: WorkspaceDoc,
  asOf: AsOf,
  session: ClientSession,
): Promise<number> {
  const revision =
    'revision' in asOf ? asOf.revision : await revisionBefore(connection, workspace._id, asOf.at, session);
  const resolved = Math.min(revision, workspace.revision);
  requireKept(workspace, resolved);
  return resolved;
}

/** @throws StoreError `compacted` */
export function requireKept(workspace: WorkspaceDoc, revision: number): void {
  if (isKept(workspace, revision)) return;
  throw new StoreError('compacted', `${workspace._id} at revision ${revision}; kept from ${workspace.compacted}`);
}

export function isKept({ compacted, keep }: Range, revision: number): boolean {
  return revision >= compacted || keep.includes(revision);
}

/** In force at an instant; 0 before the first commit. */
export async function revisionBefore(
  { log }: Collections,
  ws: string,
  at: number,
  session: ClientSession,
): Promise<number> {
  const entry = await log.findOne(
    { '_id.ws': ws, at: { $lte: at } },
    { session, sort: { at: -1, '_id.seq': -1 }, projection: { revision: 1 } },
  );
  return entry?.revision ?? 0;
}

export async function instantOf(
  { log }: Collections,
  ws: string,
  revision: number,
  session: ClientSession,
): Promise<number | undefined> {
  const entry = await log.findOne({ '_id.ws': ws, commit: revision }, { session, projection: { at: 1 } });
  return entry?.at;
}

export function revisionInForce(connection: Connection, ws: string, at: number) {
  return connection.snapshot(async (session, collections) => {
    const workspace = await findWorkspace(collections, ws, session);
    const revision = workspace ? await revisionBefore(collections, ws, at, session) : 0;
    if (!workspace || revision === 0 || !isKept(workspace, revision)) return undefined;
    const from = (await instantOf(collections, ws, revision, session)) ?? 0;
    const to = await instantOf(collections, ws, revision + 1, session);
    return { revision, from, ...(to !== undefined && { to }) };
  });
}

/** The oldest revision from which on every one can be read, and when it came into force. */
export function keptFrom(connection: Connection, ws: string) {
  return connection.snapshot(async (session, collections) => {
    const workspace = await findWorkspace(collections, ws, session);
    if (!workspace || workspace.revision === 0) return undefined;
    const revision = Math.max(1, workspace.compacted);
    return { revision, at: (await instantOf(collections, ws, revision, session)) ?? 0 };
  });
}

export function workspaceNames({ run, workspaces }: Connection): Promise<string[]> {
  return run(async (session) => {
    const found = await workspaces
      .find({ revision: { $gt: 0 } }, { session, sort: { _id: 1 }, projection: { _id: 1 } })
      .toArray();
    return found.map(({ _id }) => _id);
  });
}
