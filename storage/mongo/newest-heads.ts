import { ReadConcern } from 'mongodb';
import { SYSTEM_WORKSPACE } from '../../core/base/ids.ts';
import { gathered } from '../gathered.ts';
import type { Connection } from './connect.ts';

/** A primary that finds no majority within this time is asked no longer, ms: there may be another one. */
const CONFIRM_MS = 2_000;
const LINEARIZABLE = new ReadConcern('linearizable');

/**
 * The revisions of workspaces, with all that was acknowledged before the question: a primary that has been deposed, and does
 * not know it yet, cannot confirm itself to a majority. What is read after that is at least as new.
 */
export function newestHeads({ run, workspaces }: Connection) {
  const confirmed = () =>
    run(
      (session) =>
        workspaces.findOne(
          { _id: SYSTEM_WORKSPACE },
          { session, projection: { revision: 1 }, readConcern: LINEARIZABLE, maxTimeMS: CONFIRM_MS },
        ),
      { isFirst: true },
    );
  return gathered(async (names) => {
    const system = await confirmed();
    const heads = new Map([[SYSTEM_WORKSPACE, system?.revision ?? 0]]);
    const others = names.filter((name) => name !== SYSTEM_WORKSPACE);
    if (others.length === 0) return heads;
    return run(async (session) => {
      const found = await workspaces.find({ _id: { $in: others } }, { session, projection: { revision: 1 } }).toArray();
      for (const { _id, revision } of found) heads.set(_id, revision);
      return heads;
    });
  });
}
