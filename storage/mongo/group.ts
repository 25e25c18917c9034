import type { ClientSession, Filter } from 'mongodb';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import {
  type AuditEntry,
  type Commit,
  type CommitContext,
  type Fence,
  type Op,
  type SecurityEvent,
  StoreError,
} from '../../core/base/ports.ts';
import { isOfGroup, KINDS, partsOfGroup, type RecordDraft, type RecordGroup } from '../../core/base/record.ts';
import { applyBatch, crossLoggedWorkspaces, eventEntry, nextInstant } from '../apply-batch.ts';
import { parseStored } from '../body.ts';
import type { Connection } from './connect.ts';
import { type RecordDoc, recordId } from './documents.ts';
import { Head, loadHeads, writeHeads } from './heads.ts';
import { heldOf } from './lease.ts';
import { LoadedRows } from './rows.ts';

export interface CommitJob {
  readonly workspace: string;
  readonly ops: readonly Op[];
  readonly context: CommitContext;
}

export interface EventJob {
  readonly workspace: string;
  readonly events: readonly (SecurityEvent & { readonly requestId?: string })[];
}

export type WriteJob = CommitJob | EventJob;
export type Outcome = { readonly commit?: Commit } | { readonly error: unknown };

/** Judges jobs one after the other on what a transaction reads, and writes together what of it stands. */
export async function writeGroup(
  connection: Connection,
  session: ClientSession,
  jobs: readonly WriteJob[],
  now: number,
): Promise<Outcome[]> {
  // First of all, so that a transaction begins with what it may meet another holder at.
  const isHeld = await heldOf(connection, fencesOf(jobs), session);
  const names = jobs.flatMap((job) => [job.workspace, ...crossLoggedBy(job)]);
  const heads = await loadHeads(connection, names, session);
  const rows = await loadRows(connection, session, jobs, heads);
  const outcomes = jobs.map((job): Outcome => {
    const head = heads.get(job.workspace) ?? new Head(job.workspace, undefined);
    if ('events' in job) return appendEvents(head, job.events, now);
    const { fence } = job.context;
    if (fence && !isHeld(fence)) return { error: new StoreError('fenced', fence.lease) };
    return judge(job, {
      head,
      heads,
      now,
      rows: rows.get(job.workspace) ?? new LoadedRows(job.workspace, [], new Map()),
    });
  });
  await writeHeads(connection, heads.values(), session);
  const loaded = [...rows.values()];
  const [writes, versions] = [loaded.flatMap((each) => each.writes), loaded.flatMap((each) => each.versions)];
  if (writes.length > 0) await connection.records.bulkWrite(writes, { session });
  if (versions.length > 0) await connection.versions.insertMany(versions, { session });
  return outcomes;
}

function fencesOf(jobs: readonly WriteJob[]): Fence[] {
  return jobs.flatMap((job) => ('ops' in job ? (job.context.fence ?? []) : []));
}

interface LoadedGroup {
  readonly head: Head;
  readonly heads: ReadonlyMap<string, Head>;
  readonly rows: LoadedRows;
  readonly now: number;
}

function judge({ ops, context }: CommitJob, { head, heads, rows, now }: LoadedGroup): Outcome {
  rows.begin(head.revision + 1, nextInstant(head, now));
  try {
    const { commit, entries, told } = applyBatch(rows, head, ops, context, now);
    head.append(entries);
    for (const { workspace, event } of told) {
      const log = heads.get(workspace);
      if (log) appendEvents(log, [event], now);
    }
    return { commit };
  } catch (error) {
    rows.undo();
    return { error };
  }
}

function appendEvents(head: Head, events: EventJob['events'], now: number): Outcome {
  const at = nextInstant(head, now);
  try {
    head.append(events.map((event) => eventEntry(head.name, at, event)));
    return {};
  } catch (error) {
    return { error };
  }
}

/** The workspaces in whose logs a job writes beside its own. */
function crossLoggedBy(job: WriteJob): readonly string[] {
  if (!('ops' in job)) return [];
  if (job.workspace === SYSTEM_WORKSPACE) return job.ops.flatMap(crossLoggedWorkspaces);
  return job.ops.some((op) => 'installation' in KINDS[keyedBy(op).kind]) ? [SYSTEM_WORKSPACE] : [];
}

/**
 * Loads, for each workspace of a commit, the records that its ops name and those that own the ids and unique values in them.
 */
async function loadRows(
  connection: Connection,
  session: ClientSession,
  jobs: readonly WriteJob[],
  heads: ReadonlyMap<string, Head>,
): Promise<Map<string, LoadedRows>> {
  const byWorkspace = Map.groupBy(
    jobs.filter((job) => 'ops' in job),
    ({ workspace }) => workspace,
  );
  const named = [...byWorkspace].flatMap(([ws, commits]) =>
    namedBy(
      ws,
      commits.flatMap(({ ops }) => ops),
    ),
  );
  const records = named.length === 0 ? [] : await connection.records.find({ $or: named }, { session }).toArray();
  const found = Map.groupBy(records, ({ _id }) => _id.ws);
  const rows = new Map<string, LoadedRows>();
  for (const [ws, commits] of byWorkspace) {
    const newest = await newestOf(connection, session, commits, heads.get(ws)?.revision ?? 0);
    rows.set(ws, new LoadedRows(ws, found.get(ws) ?? [], newest));
  }
  return rows;
}

function namedBy(ws: string, ops: readonly Op[]): Filter<RecordDoc>[] {
  const drafts = ops.flatMap((op): RecordDraft[] => ('record' in op ? [op.record] : []));
  const ids = drafts.map(({ uid }) => uid);
  const values = drafts.flatMap(({ unique }) => unique);
  return [
    ...(ops.length > 0 ? [{ _id: { $in: ops.map((op) => recordId(ws, keyedBy(op))) } }] : []),
    ...(ids.length > 0 ? [{ '_id.ws': ws, uid: { $in: ids } }] : []),
    ...(values.length > 0 ? [{ '_id.ws': ws, unique: { $in: values } }] : []),
  ];
}

function keyedBy(op: Op) {
  return 'record' in op ? op.record : op.key;
}

/** The newest revision that changed a record of each group that the commits were concluded from. */
async function newestOf(
  { log }: Connection,
  session: ClientSession,
  commits: readonly CommitJob[],
  revision: number,
): Promise<Map<RecordGroup, number>> {
  const bases = commits.flatMap(({ context: { readSet } }) => readSet ?? []);
  const newest = new Map(bases.flatMap(({ groups }) => groups.map((group): [RecordGroup, number] => [group, 0])));
  const since = Math.min(...bases.map((readSet) => readSet.revision), revision);
  const [ws] = commits.map(({ workspace }) => workspace);
  if (ws === undefined || since >= revision) return newest;
  const kinds = [...new Set([...newest.keys()].map((group) => partsOfGroup(group).kind))];
  const newer = log.find(
    { '_id.ws': ws, commit: { $gt: since }, kinds: { $in: kinds } },
    { session, projection: { commit: 1, entry: 1 }, sort: { commit: 1 } },
  );
  for await (const { commit = 0, entry } of newer) {
    const { changes = [] } = parseStored<AuditEntry>(entry).commit ?? {};
    for (const group of newest.keys()) if (changes.some((key) => isOfGroup(group, key))) newest.set(group, commit);
  }
  return newest;
}
