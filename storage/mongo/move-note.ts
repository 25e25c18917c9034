import type { ClientSession } from 'mongodb';
import { type CopyMark, type MoveNote, movedRefusal, unfinishedRefusal } from '../copy/move-note.ts';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';
import { requireHere } from './workspaces.ts';

/** @throws StoreError `unavailable` of a database that was moved, or is a copy that did not end */
export async function requireInUse(connection: Connection): Promise<void> {
  const what = `the database ${databaseText(connection)}`;
  const [moved, mark] = [await moveNoteOf(connection), await copyMarkOf(connection)];
  if (moved) throw unavailable(movedRefusal(what, moved));
  if (mark) throw unavailable(unfinishedRefusal(what, mark));
}

/**
 * Requires, in the transaction that creates a workspace, that the database is in use: a new workspace has no mark of its own
 * yet. Writes to the document that a move writes to first, so that one of the two sees the other. Also refuses where a copy is
 * being written to the database. @throws StoreError `unavailable`
 */
export async function requireBegun(connection: Connection, session: ClientSession): Promise<void> {
  const { schema } = connection;
  await touch(schema, session);
  const marks = await schema.find({ _id: { $in: ['schema', 'moved', 'copy'] } }, { session }).toArray();
  for (const { needs = 0, moved, copy } of marks) {
    requireHere({ needs, ...(moved && { moved: true }) });
    if (copy) throw unavailable(unfinishedRefusal(`the database ${databaseText(connection)}`, copy));
  }
}

/** Counts a move, before it marks the existing workspaces. */
export function touch(schema: Connection['schema'], session: ClientSession) {
  return schema.updateOne({ _id: 'schema' }, { $inc: { begun: 1 } }, { session });
}

/** Its servers and its name, without what else is in its URL. */
export function databaseText({ client, schema }: Pick<Connection, 'client' | 'schema'>): string {
  const { srvHost, hosts } = client.options;
  const servers = hosts.map(({ host, port }) => `${host}:${port}`).sort();
  return srvHost ? `mongodb+srv://${srvHost}/${schema.dbName}` : `mongodb://${servers.join(',')}/${schema.dbName}`;
}

export function moveNoteOf({ run, schema }: Connection): Promise<MoveNote | undefined> {
  return run(async (session) => (await schema.findOne({ _id: 'moved' }, { session }))?.moved);
}

export function copyMarkOf({ run, schema }: Connection): Promise<(CopyMark & { readonly run: string }) | undefined> {
  return run(async (session) => (await schema.findOne({ _id: 'copy' }, { session }))?.copy);
}
