import { setTimeout as after } from 'node:timers/promises';
import { type Filter, ObjectId } from 'mongodb';
import type { Clock } from '../../core/base/ports.ts';
import type { Cell, Cells, CellUpdate } from '../../core/base/shared.ts';
import { unavailable } from '../unavailable.ts';
import type { Connection } from './connect.ts';
import { type CellDoc, goneAfter } from './documents.ts';
import { isDuplicate } from './errors.ts';

/** Between two tries, at random up to this, and how long one change is tried. */
const PAUSE_MS = 20;
const PATIENCE_MS = 5_000;

type CellDecision<T, R> = (cell: Cell<T> | undefined) => CellUpdate<T, R>;

/**
 * Cells as one document each. A change reads it, judges, and writes where the document is still the one that was read; of
 * two control planes that meet, one begins again. Changes of one process to one cell wait for each other.
 */
export function cellsIn<T>(
  { run, cells }: Pick<Connection, 'run' | 'cells'>,
  clock: Clock,
  space: string,
  parse: (value: unknown) => T | undefined,
): Cells<T> {
  /** The last change of each, which resolves whatever becomes of it. */
  const turns = new Map<string, Promise<void>>();
  const idOf = (key: string) => `${space}:${key}`;
  const keyOf = ({ _id }: CellDoc) => _id.slice(space.length + 1);

  function cellOf(doc: CellDoc | null): Cell<T> | undefined {
    if (!doc || doc.expiresAt <= clock.now()) return undefined;
    const value = parse(JSON.parse(doc.value));
    return value === undefined ? undefined : { value, expiresAt: doc.expiresAt, tags: doc.tags };
  }

  async function changeOnce<R>(_id: string, judge: CellDecision<T, R>): Promise<{ readonly result: R } | undefined> {
    const doc = await run((session) => cells.findOne({ _id }, { session }));
    const before = cellOf(doc);
    const { cell, result } = judge(before);
    if (cell === before) return { result };
    return (await write(_id, doc, cell)) ? { result } : undefined;
  }

  /** @returns whether what was read still stood */
  function write(_id: string, read: CellDoc | null, cell: Cell<T> | undefined): Promise<boolean> {
    return run(async (session) => {
      const same = read && { _id, stamp: read.stamp };
      if (!cell) return !same || (await cells.deleteOne(same, { session })).deletedCount === 1;
      const { value, expiresAt, tags = [] } = cell;
      const fields = {
        value: JSON.stringify(value),
        expiresAt,
        tags: [...tags],
        stamp: new ObjectId(),
        gone: goneAfter(expiresAt),
      };
      if (same) return (await cells.replaceOne(same, fields, { session })).matchedCount === 1;
      try {
        await cells.insertOne({ _id, ...fields }, { session });
        return true;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    });
  }

  async function changeInTurn<R>(_id: string, judge: CellDecision<T, R>): Promise<R> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const done = await changeOnce(_id, judge);
      if (done) return done.result;
      if (performance.now() > deadline) throw unavailable('too many write the same at once');
      await after(Math.random() * PAUSE_MS);
    }
  }

  /** A semicolon comes right after a colon. */
  const ofSpace: Filter<CellDoc> = { _id: { $gt: idOf(''), $lt: `${space};` } };
  const living = () => ({ expiresAt: { $gt: clock.now() } });

  return {
    async read(keys) {
      if (keys.length === 0) return new Map();
      const found = await run((session) => cells.find({ _id: { $in: keys.map(idOf) } }, { session }).toArray());
      return new Map(
        found.flatMap((doc) => {
          const cell = cellOf(doc);
          return cell ? [[keyOf(doc), cell] as const] : [];
        }),
      );
    },
    async change(key, judge) {
      const _id = idOf(key);
      const changed = (turns.get(_id) ?? Promise.resolve()).then(() => changeInTurn(_id, judge));
      const over = changed.then(ignore, ignore);
      turns.set(_id, over);
      try {
        return await changed;
      } finally {
        if (turns.get(_id) === over) turns.delete(_id);
      }
    },
    count: (tags) =>
      run(async (session) => {
        const countOf = (filter: Filter<CellDoc>) => cells.countDocuments({ ...filter, ...living() }, { session });
        const all = await countOf(ofSpace);
        const tagged: number[] = [];
        for (const tag of tags) tagged.push(await countOf({ ...ofSpace, tags: tag }));
        return { all, tagged };
      }),
    async firstToEnd(tag) {
      const [first] = await run((session) =>
        cells
          .find({ ...ofSpace, tags: tag, ...living() }, { session })
          .sort({ expiresAt: 1 })
          .limit(1)
          .toArray(),
      );
      return first && keyOf(first);
    },
  };
}

function ignore(): void {}
