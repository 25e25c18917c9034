import { randomUUID } from 'node:crypto';
import { ObjectId } from 'mongodb';
import type { Clock } from '../../core/base/ports.ts';
import type { SharedCalls, SharedCounts, SharedMessages, SharedState } from '../../core/base/shared.ts';
import { TRACE_LIMITS } from '../../core/model/call-trace.ts';
import { cellsIn } from './cells.ts';
import type { Connection } from './connect.ts';
import { type CallDoc, goneAfter } from './documents.ts';
import { asStoreError } from './errors.ts';

/** How long calls are kept. */
const CALLS_MS = 24 * 3_600_000;

/** A failed primary may take the last of these with it, which harms nobody: the wait for a majority is left out. */
const LIGHT = { writeConcern: { w: 1 }, ordered: false } as const;
const LOCAL = { readConcern: { level: 'local' } } as const;

/** Returns the state that the control planes on one database share beside the records. */
export function sharedState(connection: Connection, clock: Clock): SharedState {
  return {
    cells: (space, parse) => cellsIn(connection, clock, space, parse),
    counts: countsIn(connection),
    calls: callsIn(connection, clock),
    messages: messagesIn(connection, clock),
  };
}

function countsIn({ counts }: Connection): SharedCounts {
  return {
    async add(added, expiresAt) {
      if (added.size === 0) return new Map();
      const gone = goneAfter(expiresAt);
      const updates = [...added].map(([_id, count]) => ({
        updateOne: { filter: { _id }, update: { $inc: { count }, $setOnInsert: { gone } }, upsert: true },
      }));
      return asking(async () => {
        await counts.bulkWrite(updates, LIGHT);
        const found = await counts.find({ _id: { $in: [...added.keys()] } }, LOCAL).toArray();
        return new Map(found.map(({ _id, count }) => [_id, count]));
      });
    },
  };
}

function callsIn({ calls }: Connection, clock: Clock): SharedCalls {
  const newestFirst = { seq: -1 } as const;

  /** Leaves the newest of a family. */
  async function trim({ ws, family }: Pick<CallDoc, 'ws' | 'family'>): Promise<void> {
    const [oldest] = await calls
      .find({ ws, family }, LOCAL)
      .sort(newestFirst)
      .skip(TRACE_LIMITS.calls)
      .limit(1)
      .project<Pick<CallDoc, 'seq'>>({ seq: 1 })
      .toArray();
    if (oldest) await calls.deleteMany({ ws, family, seq: { $lte: oldest.seq } }, { writeConcern: LIGHT.writeConcern });
  }

  return {
    async append(added) {
      const gone = goneAfter(clock.now() + CALLS_MS);
      const docs = added.map(({ workspace: ws, caller, family, seq, text }) => ({
        ws,
        caller,
        family,
        seq,
        text,
        gone,
      }));
      const families = new Map(docs.map((doc) => [`${doc.ws} ${doc.family}`, doc]));
      await asking(async () => {
        await calls.insertMany(docs, LIGHT);
        for (const family of families.values()) await trim(family);
      });
    },
    newest: ({ workspace: ws, caller }, limit) =>
      asking(async () => {
        const found = await calls.find({ ws, caller }, LOCAL).sort(newestFirst).limit(limit).toArray();
        return found.map(({ text }) => text);
      }),
  };
}

/** Until a message is cleared away: by then every control plane that reads has read it. */
const MESSAGE_MS = 60_000;
/** So long it is known that one was read, which it is no more once it is gone. */
const KNOWN_MS = 5 * MESSAGE_MS;

/** There are as many as control planes post in a minute or two: each that is there and not known yet is read. */
function messagesIn({ messages }: Connection, clock: Clock): SharedMessages {
  const self = randomUUID();
  let known: readonly { readonly _id: ObjectId; readonly readAt: number }[] = [];
  return {
    async post(texts) {
      if (texts.length === 0) return;
      const gone = new Date(clock.now() + MESSAGE_MS);
      await asking(() =>
        messages.insertMany(
          texts.map((text) => ({ _id: new ObjectId(), from: self, text, gone })),
          LIGHT,
        ),
      );
    },
    async read() {
      const readAt = performance.now();
      known = known.filter((one) => readAt - one.readAt < KNOWN_MS);
      const isNew = { from: { $ne: self }, _id: { $nin: known.map(({ _id }) => _id) } };
      const found = await asking(() => messages.find(isNew, LOCAL).toArray());
      known = [...known, ...found.map(({ _id }) => ({ _id, readAt }))];
      return found.map(({ text }) => text);
    },
  };
}

/** @throws StoreError */
async function asking<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw asStoreError(error);
  }
}
