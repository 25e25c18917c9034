import type { ClientSession } from 'mongodb';
import { type CopyMark, type Moved, movedRefusal, unfinishedRefusal } from '../copy/moved.ts';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';
import { requireHere } from './workspaces.ts';

/** @throws StoreError `unavailable` of a database that was moved, or is a copy that did not end */
export async function requireInUse(connection: Connection): Promise<void> {
  const what = `the database ${placeOf(connection)}`;
  const [moved, mark] = [await movedOf(connection), await copyMarkOf(connection)];
  if (moved) throw unavailable(movedRefusal(what, moved));
  if (mark) throw unavailable(unfinishedRefusal(what, mark));
}

/**
 * Of a workspace that is made, which has no mark of its own yet, in that transaction. It writes to what a move writes to
 * first: of the two, one sees the other. Where a copy is written to the database none is made either. @throws StoreError
 * `unavailable`
 */
export async function requireBegun(connection: Connection, session: ClientSession): Promise<void> {
  const { schema } = connection;
  await touch(schema, session);
  const marks = await schema.find({ _id: { $in: ['moved', 'copy'] } }, { session }).toArray();
  for (const { moved, copy } of marks) {
    if (moved) requireHere({ moved: true });
    if (copy) throw unavailable(unfinishedRefusal(`the database ${placeOf(connection)}`, copy));
  }
}

/** What a move does before it marks the workspaces that are there. */
export function touch(schema: Connection['schema'], session: ClientSession) {
  return schema.updateOne({ _id: 'schema' }, { $inc: { begun: 1 } }, { session });
}

/** Its servers and its name, without what else is in its URL. */
export function placeOf({ client, schema }: Pick<Connection, 'client' | 'schema'>): string {
  const { srvHost, hosts } = client.options;
  const servers = hosts.map(({ host, port }) => `${host}:${port}`).sort();
  return srvHost ? `mongodb+srv://${srvHost}/${schema.dbName}` : `mongodb://${servers.join(',')}/${schema.dbName}`;
}

export function movedOf({ run, schema }: Connection): Promise<Moved | undefined> {
  return run(async (session) => (await schema.findOne({ _id: 'moved' }, { session }))?.moved);
}

export function copyMarkOf({ run, schema }: Connection): Promise<(CopyMark & { readonly run: string }) | undefined> {
  return run(async (session) => (await schema.findOne({ _id: 'copy' }, { session }))?.copy);
}
