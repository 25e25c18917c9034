import { KINDS, type Kind } from '../../core/base/record.ts';
import { packBody } from '../body.ts';
import type { Contents, Part, Rows } from '../copy/contents.ts';
import type { Connection } from './connect.ts';
import { bytesOf, entriesOf, everythingOf } from './documents.ts';
import { treeOf } from './tree.ts';

/** Versions of the other kinds are stored for an hour only, for the control planes that have the database open. */
const WITH_HISTORY = (Object.keys(KINDS) as Kind[]).filter((kind) => KINDS[kind].history);
/** Documents that the server sends at once. */
const BATCH = 1_000;

/** All of a database, while nobody writes to it. */
export function contentsOf(connection: Connection): Contents {
  const { run, workspaces, records, versions, log, checkpoints } = connection;
  return {
    heads: () =>
      run(async (session) => {
        const found = await workspaces.find({}, { session, sort: { _id: 1 } }).toArray();
        return found.map(({ _id: name, size, revision, at, compacted, keep, peaks }) => ({
          name,
          size,
          revision,
          at,
          compacted,
          keep,
          peaks: peaks.map((peak) => Buffer.from(bytesOf(peak)).toString('hex')),
        }));
      }),
    counts: () =>
      run(async (session) => ({
        log: await log.countDocuments({}, { session }),
        records: await records.countDocuments({}, { session }),
        unique: await uniqueValues(connection),
        versions: await versions.countDocuments({ '_id.kind': { $in: WITH_HISTORY } }, { session }),
        checkpoints: await checkpoints.countDocuments({}, { session }),
      })),
    rows: (workspace, part) => ROW_READERS[part](connection, workspace),
    tree: (workspace) => treeOf(connection, workspace),
  };
}

const ROW_READERS: { readonly [P in Part]: (connection: Connection, ws: string) => AsyncIterable<Rows[P]> } = {
  async *log({ log }, ws) {
    const found = log.find({ _id: entriesOf(ws) }, { sort: { _id: 1 }, batchSize: BATCH });
    for await (const { _id, at, commit, revision, hashes, entry } of found) {
      yield { seq: _id.seq, at, commit, revision, hashes: bytesOf(hashes), entry };
    }
  },
  async *records({ records }, ws) {
    const found = records.find({ _id: everythingOf(ws) }, { sort: { _id: 1 }, batchSize: BATCH });
    for await (const { _id, uid, revision, at, body, unique = [] } of found) {
      yield { kind: _id.kind, name: _id.name, uid, revision, at, body, unique };
    }
  },
  async *versions({ versions }, ws) {
    const found = versions.find({ _id: everythingOf(ws) }, { sort: { _id: 1 }, batchSize: BATCH });
    for await (const { _id, at, until, untilAt, body } of found) {
      const { kind, name, revision } = _id;
      if (!KINDS[kind].history) continue;
      yield {
        kind,
        name,
        revision,
        at,
        until,
        untilAt,
        body: packBody(typeof body === 'string' ? body : bytesOf(body)),
      };
    }
  },
  async *checkpoints({ checkpoints }, ws) {
    const found = checkpoints.find({ '_id.ws': ws }, { sort: { _id: 1 }, batchSize: BATCH });
    for await (const { _id, at, size, note } of found) yield { day: _id.day, at, size, note };
  },
};

async function uniqueValues({ records }: Connection): Promise<number> {
  const [found] = await records
    .aggregate<{ values: number }>([
      { $match: { unique: { $exists: true } } },
      { $group: { _id: null, values: { $sum: { $size: '$unique' } } } },
    ])
    .toArray();
  return found?.values ?? 0;
}
