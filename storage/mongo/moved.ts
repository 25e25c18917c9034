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
 * first: of the two, one sees the other. @throws StoreError `unavailable`
 */
export async function requireBegun({ schema }: Connection, session: ClientSession): Promise<void> {
  await touch(schema, session);
  for (const { _id, needs = 0 } of await schema.find({ _id: { $in: ['schema', 'moved'] } }, { session }).toArray())
    requireHere({ needs, ...(_id === 'moved' && { moved: true }) });
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
