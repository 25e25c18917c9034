import { foldName, type StoredRecord } from '../base/record.ts';

/** Changes after which a new line begins, so that what an old version keeps alive stays bounded. */
const MIN_CHANGES_OF_A_LINE = 1_024;

/** The data that all versions of one line share: the records as of the newest version. */
interface Line<R extends StoredRecord> {
  readonly records: Map<string, R>;
  /** Index of the newest version; other versions check the names that they get from it. */
  readonly nameOfUid: Map<string, string>;
  readonly nameOfFolded: Map<string, string>;
  newest: RecordMap<R>;
  changes: number;
  /** Iterations of the newest version that are under way. */
  readers: number;
}

/**
 * The earlier values of the records that differ from the versions up to `next`; undefined where there was no record. Holds
 * records only, so that a retained old version retains neither later versions nor values derived from them.
 */
interface Past<R extends StoredRecord> {
  readonly was: Map<string, R | undefined>;
  next: Past<R> | undefined;
}

/**
 * Records by name that never change, of which the next version costs as much as what differs and not as much as all of
 * them: the newest version holds the map, and each older one what has changed since. Reading any version is right at any
 * time; the newest is the fast one.
 */
export class RecordMap<R extends StoredRecord = StoredRecord> implements ReadonlyMap<string, R> {
  readonly size: number;
  readonly #line: Line<R>;
  readonly #past: Past<R> = { was: new Map(), next: undefined };

  private constructor(line: Line<R> | undefined, records: Map<string, R>, size = records.size) {
    this.size = size;
    this.#line = line ?? {
      records,
      nameOfUid: new Map([...records.values()].map(({ uid, name }) => [uid, name])),
      nameOfFolded: new Map([...records.keys()].map((name) => [foldName(name), name])),
      newest: this,
      changes: 0,
      readers: 0,
    };
  }

  /** A first version with the records of another map, which is copied. */
  static from<R extends StoredRecord>(records: ReadonlyMap<string, R>): RecordMap<R> {
    return records instanceof RecordMap ? records : new RecordMap<R>(undefined, new Map(records));
  }

  /** The next version: each name with its new record, or undefined where it goes. */
  with(changes: ReadonlyMap<string, R | undefined>): RecordMap<R> {
    const line = this.#line;
    const isLong = line.changes > MIN_CHANGES_OF_A_LINE && line.changes > line.records.size;
    if (line.newest !== this || line.readers > 0 || isLong) {
      return new RecordMap<R>(undefined, this.#copy()).with(changes);
    }
    for (const [name, record] of changes) {
      const before = line.records.get(name);
      this.#past.was.set(name, before);
      if (before) unindex(line, name, before);
      if (record) put(line, name, record);
      else line.records.delete(name);
    }
    line.changes += changes.size;
    const next = new RecordMap<R>(line, line.records);
    line.newest = next;
    this.#past.next = next.#past;
    return next;
  }

  /** A version beside the line, for what may never happen; the line goes on from the newest one. */
  branch(changes: ReadonlyMap<string, R | undefined>): RecordMap<R> {
    let size = this.size;
    for (const [name, record] of changes) size += Number(record !== undefined) - Number(this.has(name));
    const branch = new RecordMap<R>(this.#line, this.#line.records, size);
    for (const [name, record] of changes) branch.#past.was.set(name, record);
    branch.#past.next = this.#past;
    return branch;
  }

  /** Names among which are all that differ between two versions; undefined when they are not of one line. */
  static changedNames<R extends StoredRecord>(
    a: ReadonlyMap<string, R>,
    b: ReadonlyMap<string, R>,
  ): ReadonlySet<string> | undefined {
    if (!(a instanceof RecordMap && b instanceof RecordMap) || a.#line !== b.#line) return undefined;
    settle(a.#past);
    settle(b.#past);
    return new Set([...a.#past.was.keys(), ...b.#past.was.keys()]);
  }

  /** The same object for all versions of which {@link changedNames} can tell the difference. */
  get line(): object {
    return this.#line;
  }

  get(name: string): R | undefined {
    if (this.#past.next !== undefined) {
      const { was } = settle(this.#past);
      if (was.has(name)) return was.get(name);
    }
    return this.#line.records.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  byUid(uid: string): R | undefined {
    return this.#lookUp(this.#line.nameOfUid.get(uid), (record) => record.uid === uid);
  }

  byFoldedName(folded: string): R | undefined {
    return this.#lookUp(this.#line.nameOfFolded.get(folded), ({ name }) => foldName(name) === folded);
  }

  *entries(): MapIterator<[string, R]> {
    if (this.#past.next !== undefined) return yield* this.#copy().entries();
    this.#line.readers += 1;
    try {
      yield* this.#line.records.entries();
    } finally {
      this.#line.readers -= 1;
    }
  }

  *keys(): MapIterator<string> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): MapIterator<R> {
    for (const [, record] of this.entries()) yield record;
  }

  [Symbol.iterator](): MapIterator<[string, R]> {
    return this.entries();
  }

  forEach(visit: (record: R, name: string, map: ReadonlyMap<string, R>) => void): void {
    for (const [name, record] of this.entries()) visit(record, name, this);
  }

  /** The record that the newest version has by that name, or another that this version alone knows so. */
  #lookUp(name: string | undefined, isWanted: (record: R) => boolean): R | undefined {
    const found = name === undefined ? undefined : this.get(name);
    if (found !== undefined && isWanted(found)) return found;
    if (this.#past.next === undefined) return undefined;
    for (const record of settle(this.#past).was.values()) if (record && isWanted(record)) return record;
    return undefined;
  }

  #copy(): Map<string, R> {
    const copy = new Map(this.#line.records);
    if (this.#past.next === undefined) return copy;
    for (const [name, record] of settle(this.#past).was) {
      if (record === undefined) copy.delete(name);
      else copy.set(name, record);
    }
    return copy;
  }
}

/** Takes over what the versions after it hold, so that it stands right behind the newest. */
function settle<R extends StoredRecord>(past: Past<R>): Past<R> {
  for (let { next } = past; next?.next !== undefined; next = next.next) {
    for (const [name, record] of next.was) if (!past.was.has(name)) past.was.set(name, record);
    past.next = next.next;
  }
  return past;
}

function put<R extends StoredRecord>({ records, nameOfUid, nameOfFolded }: Line<R>, name: string, record: R): void {
  records.set(name, record);
  nameOfUid.set(record.uid, name);
  nameOfFolded.set(foldName(name), name);
}

/** Removes a record from the indexes, but leaves the entry of one that is already indexed under its new name. */
function unindex<R extends StoredRecord>({ nameOfUid, nameOfFolded }: Line<R>, name: string, { uid }: R): void {
  if (nameOfUid.get(uid) === name) nameOfUid.delete(uid);
  if (nameOfFolded.get(foldName(name)) === name) nameOfFolded.delete(foldName(name));
}
