import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import type { Connection } from './connect.ts';
import type { WorkspaceDoc } from './documents.ts';
import { requireKnown } from './schema.ts';

/** A primary that finds no majority within this time is asked no longer, ms: there may be another one. */
const CONFIRM_MS = 2_000;

const PROJECTION = { revision: 1, needs: 1 };
type HeadFields = Pick<WorkspaceDoc, 'revision' | 'needs'>;

/**
 * The revisions of workspaces, with all that was acknowledged before the question: a primary that has been deposed, and does
 * not know it yet, cannot confirm itself to a majority. What is read after that is at least as new.
 */
export function newestHeads({ client, run, workspaces }: Connection) {
  const { dbName, collectionName } = workspaces;
  const question = {
    find: collectionName,
    filter: { _id: SYSTEM_WORKSPACE },
    projection: PROJECTION,
    limit: 1,
    singleBatch: true,
    readConcern: { level: 'linearizable' },
    maxTimeMS: CONFIRM_MS,
  };
  // A find of the driver, asked again by itself, would wait for the instant of the refusal, which a server takes for a mistake
  // in such a question. A command is asked again from the beginning.
  const confirmed = () =>
    run(
      async (session) => {
        const { cursor } = await client.db(dbName).command(question, { session });
        return (cursor.firstBatch as HeadFields[])[0];
      },
      { isFirst: true },
    );
  return batchedReads(async (names) => {
    const system = await confirmed();
    requireKnown(system?.needs);
    const heads = new Map([[SYSTEM_WORKSPACE, system?.revision ?? 0]]);
    const others = names.filter((name) => name !== SYSTEM_WORKSPACE);
    if (others.length === 0) return heads;
    return run(async (session) => {
      const found = await workspaces.find({ _id: { $in: others } }, { session, projection: PROJECTION }).toArray();
      for (const { _id, revision } of found) heads.set(_id, revision);
      return heads;
    });
  });
}

/**
 * Reads by names for many who ask at once: those who wait share the next reading. One that has begun is not joined, since
 * what it answers may be from before the question.
 */
export function batchedReads<V>(
  read: (names: readonly string[]) => Promise<ReadonlyMap<string, V>>,
): (names: readonly string[]) => Promise<ReadonlyMap<string, V>> {
  let next: { readonly names: Set<string>; readonly answer: Promise<ReadonlyMap<string, V>> } | undefined;
  let underWay: Promise<unknown> = Promise.resolve();

  function begin() {
    const names = new Set<string>();
    const answer = underWay.then(() => {
      next = undefined;
      return read([...names]);
    });
    underWay = answer.catch(() => undefined);
    return { names, answer };
  }

  return (names) => {
    next ??= begin();
    for (const name of names) next.names.add(name);
    return next.answer;
  };
}
