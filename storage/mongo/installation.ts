import { newId } from '../../core/base/ids.ts';
import type { Claim, SharedDatabase } from '../engine.ts';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';
import { isDuplicate } from './errors.ts';

/** The facts about the installation, in one document that any number of control planes may create at once. */
export function installationIn(
  connection: Connection,
): Pick<SharedDatabase, 'claim' | 'claimedWith' | 'renew' | 'isElecting' | 'now'> {
  return {
    claim: (keys) => settle(connection, { keys: { $ifNull: ['$keys', { $literal: keys }] } }),
    claimedWith: () => claimedWith(connection),
    renew: () => settle(connection, { of: null }),
    isElecting: connection.isElecting,
    async now() {
      const { localTime } = await connection.client.db('admin').command({ hello: 1 });
      return localTime.getTime();
    },
  };
}

/** Names the keys that the database is written with, where that is said. */
export function claimedWith({ run, installation }: Connection): Promise<string | undefined> {
  return run(async (session) => (await installation.findOne({ _id: 'installation' }, { session }))?.keys);
}

/** @param set first; then the epoch is made anew unless it is of the collection that is there */
async function settle(connection: Connection, set: object): Promise<Claim> {
  const of = await collectionId(connection);
  const epoch = { $cond: [{ $eq: ['$of', of] }, '$epoch', newId('ev')] };
  const document = await connection.run((session) => {
    const update = () =>
      connection.installation.findOneAndUpdate({ _id: 'installation' }, [{ $set: set }, { $set: { epoch, of } }], {
        session,
        upsert: true,
        returnDocument: 'after',
      });
    return update().catch((error) => {
      // Another control plane was the first, a moment ago.
      if (isDuplicate(error)) return update();
      throw error;
    });
  });
  if (!document) throw unavailable('the database does not say whose it is');
  return { keys: document.keys ?? '', epoch: document.epoch };
}

/** The id that the servers have given to the collection that revisions are counted in. */
function collectionId({ run, client, workspaces }: Connection): Promise<string> {
  return run(async (session) => {
    const name = workspaces.collectionName;
    const [found] = await client.db(workspaces.dbName).listCollections({ name }, { session }).toArray();
    const uuid = found && 'info' in found ? found.info?.uuid : undefined;
    if (!uuid) throw unavailable(`the database has no collection ${name}`);
    return uuid.toString('hex');
  });
}
