import type { AnyBulkWriteOperation, ClientSession } from 'mongodb';
import { hashOfEntry } from '../../core/audit/leaf.ts';
import { GrowingTree } from '../../core/audit/tree.ts';
import { StoreError } from '../../core/base/ports.ts';
import type { Entry } from '../apply-batch.ts';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';
import { bytesOf, type EntryDoc, entryId, type WorkspaceDoc } from './documents.ts';
import { requireBegun } from './move-note.ts';
import { NEEDED_SCHEMA } from './schema.ts';
import { requireHere } from './workspaces.ts';

/** A document of the server is at most 16 MiB; an entry is the largest of them. */
const MAX_ENTRY_BYTES = 12 * 1024 * 1024;

const NEEDS = NEEDED_SCHEMA > 0 && { needs: NEEDED_SCHEMA };

/** A workspace as a transaction found it, and as it leaves it. */
export class Head {
  readonly name: string;
  readonly #before: Pick<WorkspaceDoc, 'size'> | undefined;
  readonly #tree: GrowingTree;
  readonly entries: EntryDoc[] = [];
  revision: number;
  at: number;

  constructor(name: string, found: WorkspaceDoc | undefined) {
    this.name = name;
    this.#before = found;
    this.#tree = new GrowingTree(found?.size ?? 0, (found?.peaks ?? []).map(bytesOf));
    this.revision = found?.revision ?? 0;
    this.at = found?.at ?? 0;
  }

  /** @throws StoreError `too_large` where the entry of a commit is; nothing is appended then */
  append(entries: readonly Entry[]): void {
    const texts = entries.map((entry) => JSON.stringify(entry));
    for (const text of texts) requireSize(this.name, text);
    for (const [index, entry] of entries.entries()) this.#append(entry, texts[index] ?? '');
  }

  #append(entry: Entry, text: string): void {
    const { at, actor, commit } = entry;
    const seq = this.#tree.size;
    const hashes = Buffer.concat(this.#tree.append(hashOfEntry(text)));
    this.revision = commit?.revision ?? this.revision;
    this.at = at;
    this.entries.push({
      _id: entryId(this.name, seq),
      at,
      revision: this.revision,
      actor,
      hashes,
      entry: text,
      ...(commit && { commit: commit.revision, kinds: [...new Set(commit.changes.map(({ kind }) => kind))] }),
    });
  }

  /** Moves the workspace on, if nobody else has meanwhile. */
  move(): AnyBulkWriteOperation<WorkspaceDoc> {
    const { name: _id, revision, at } = this;
    const moved = { size: this.#tree.size, revision, at, peaks: this.#tree.peaks() };
    if (!this.#before) return { insertOne: { document: { _id, ...moved, compacted: 0, keep: [], ...NEEDS } } };
    return { updateOne: { filter: { _id, size: this.#before.size }, update: { $set: moved } } };
  }
}

/** The workspaces of the names, in the order of their names: two transactions meet at the first that they share. */
export async function loadHeads(
  connection: Connection,
  names: readonly string[],
  session: ClientSession,
): Promise<Map<string, Head>> {
  const found = await connection.workspaces
    .find({ _id: { $in: [...names] } }, { session, projection: { keep: 0, compacted: 0 } })
    .toArray();
  for (const each of found) requireHere(each);
  const byName = new Map(found.map((each) => [each._id, each as WorkspaceDoc]));
  const all = new Set(names);
  if (byName.size < all.size) await requireBegun(connection, session);
  return new Map([...all].sort().map((name) => [name, new Head(name, byName.get(name))]));
}

export async function writeHeads(connection: Connection, heads: Iterable<Head>, session: ClientSession): Promise<void> {
  const written = [...heads].filter(({ entries }) => entries.length > 0);
  if (written.length === 0) return;
  const moves = written.map((head) => head.move());
  const { insertedCount, matchedCount } = await connection.workspaces.bulkWrite(moves, { session });
  if (insertedCount + matchedCount !== moves.length) throw unavailable('a workspace moved under its transaction');
  await connection.log.insertMany(
    written.flatMap(({ entries }) => entries),
    { session },
  );
}

function requireSize(workspace: string, text: string): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_ENTRY_BYTES) return;
  throw new StoreError(
    'too_large',
    `one commit of ${workspace} (its entry takes ${bytes} of ${MAX_ENTRY_BYTES} bytes)`,
  );
}
