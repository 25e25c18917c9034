import type { ClientSession } from 'mongodb';
import { type Clock, type Fence, StoreError } from '../../core/base/ports.ts';
import { KINDS, type Kind } from '../../core/base/record.ts';
import { eventEntry, nextInstant } from '../apply-batch.ts';
import { COMPACTED, type Compaction, type CompactionDetail, isMoved, isNamed } from '../compaction.ts';
import type { Connection } from './connect.ts';
import { type RecordDoc, type VersionDoc, versionId } from './documents.ts';
import { loadHeads, writeHeads } from './heads.ts';
import { heldOf } from './lease.ts';
import { findWorkspace, isKept, requireHere } from './workspaces.ts';

/** Versions dropped in one transaction. */
const PAGE = 500;
const WITH_HISTORY = (Object.keys(KINDS) as Kind[]).filter((kind) => KINDS[kind].history);

interface Mark {
  readonly ws: string;
  readonly compacted: number;
  readonly keep: readonly number[];
  readonly fence: Fence | undefined;
  /** The log says it already. */
  readonly isTold: boolean;
}

/**
 * First moves the mark that reads obey, then drops what lies behind it in small transactions between other commits. A crash
 * in between leaves versions that the next call drops.
 */
export async function compactVersions(connection: Connection, clock: Clock, compaction: Compaction): Promise<number> {
  const marked = await mark(connection, clock, compaction);
  if (!marked) return 0;
  let dropped = 0;
  for await (const page of droppable(connection, marked)) {
    dropped += await drop(connection, clock, marked, page, dropped === 0 && !marked.isTold);
  }
  return dropped;
}

function mark(
  connection: Connection,
  clock: Clock,
  { workspace: ws, upTo, keep, fence }: Compaction,
): Promise<Mark | undefined> {
  return connection.transaction(async (session) => {
    await requireHeld(connection, fence, session);
    const workspace = await findWorkspace(connection, ws, session);
    if (!workspace) return undefined;
    requireHere(workspace);
    const compacted = Math.max(workspace.compacted, Math.min(upTo, workspace.revision));
    // A revision that an earlier call gave up cannot be kept any more.
    const kept = [...new Set(keep)]
      .filter((revision) => revision < compacted && isKept(workspace, revision))
      .sort((a, b) => a - b);
    await connection.workspaces.updateOne({ _id: ws }, { $set: { compacted, keep: kept } }, { session });
    const isTold = isMoved(workspace, { upTo: compacted, keep: kept });
    if (isTold) await tellCompacted(connection, clock, ws, { upTo: compacted, keep: kept, isMark: true }, session);
    return { ws, compacted, keep: kept, fence, isTold };
  });
}

/** Whose list of what is kept is old may not put it in place of a newer one, nor drop what that one keeps. */
async function requireHeld(connection: Connection, fence: Fence | undefined, session: ClientSession): Promise<void> {
  if (!fence) return;
  const isHeld = await heldOf(connection, [fence], session);
  if (!isHeld(fence)) throw new StoreError('fenced', fence.lease);
}

async function* droppable(
  { versions }: Connection,
  { ws, compacted, keep }: Mark,
): AsyncGenerator<VersionDoc['_id'][]> {
  let page: VersionDoc['_id'][] = [];
  const behind = versions.find(
    { '_id.ws': ws, '_id.kind': { $in: WITH_HISTORY }, until: { $lte: compacted } },
    { projection: { _id: 1, until: 1 }, batchSize: PAGE },
  );
  for await (const { _id, until } of behind) {
    if (isNamed(keep, _id.revision, until)) continue;
    page.push(_id);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** Writes it into the log itself, in the transaction that moves what reads obey or drops the first version. */
async function tellCompacted(
  connection: Connection,
  clock: Clock,
  ws: string,
  detail: CompactionDetail,
  session: ClientSession,
): Promise<void> {
  const heads = await loadHeads(connection, [ws], session);
  const head = heads.get(ws);
  const event = { type: COMPACTED, actor: 'system:retention', result: 'ok', detail: { ...detail } } as const;
  head?.append([eventEntry(ws, nextInstant(head, clock.now()), event)]);
  await writeHeads(connection, heads.values(), session);
}

function drop(
  connection: Connection,
  clock: Clock,
  { ws, compacted, keep, fence }: Mark,
  page: readonly VersionDoc['_id'][],
  isUntold: boolean,
): Promise<number> {
  return connection.transaction(async (session) => {
    await requireHeld(connection, fence, session);
    const { deletedCount } = await connection.versions.deleteMany({ _id: { $in: [...page] } }, { session });
    if (isUntold && deletedCount > 0) await tellCompacted(connection, clock, ws, { upTo: compacted, keep }, session);
    const ids = [
      ...new Map(page.map(({ ws: of, kind, name }) => [`${kind}/${name}`, { ws: of, kind, name }])).values(),
    ];
    const deleted = await connection.records
      .find({ _id: { $in: ids }, body: { $exists: false } }, { session, projection: { _id: 1 } })
      .toArray();
    const gone: RecordDoc['_id'][] = [];
    for (const { _id } of deleted) {
      const range = { $gte: versionId(_id, 0), $lte: versionId(_id, Number.POSITIVE_INFINITY) };
      // A deleted name without versions has left history.
      if (!(await connection.versions.findOne({ _id: range }, { session, projection: { _id: 1 } }))) gone.push(_id);
    }
    if (gone.length > 0) await connection.records.deleteMany({ _id: { $in: gone } }, { session });
    return deletedCount;
  });
}
