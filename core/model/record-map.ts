import { foldName, type StoredRecord } from '../base/record.ts';

/** Changes after which a new line begins, so that what an old version keeps alive stays bounded. */
const MIN_CHANGES_OF_A_LINE = 1_024;

/** What all versions of one line share: the records as the newest version sees them. */
interface Line<R extends StoredRecord> {
  readonly records: Map<string, R>;
  /** Names that ids and folded names had at any time in this line; a version checks what it finds. */
  readonly nameOfUid: Map<string, string>;
  readonly nameOfFolded: Map<string, string>;
  newest: RecordMap<R>;
  changes: number;
  /** Iterations of the newest version that are under way. */
  readers: number;
}

/**
 * Records by name that never change, of which the next version costs as much as what differs and not as much as all of
 * them: the newest version holds the map, and each older one what has changed since. Reading any version is right at any
 * time; the newest is the fast one.
 */
export class RecordMap<R extends StoredRecord = StoredRecord> implements ReadonlyMap<string, R> {
  readonly size: number;
  readonly #line: Line<R>;
  /** What this version had where the versions up to `#next` differ; undefined is "not there". */
  readonly #was = new Map<string, R | undefined>();
  #next: RecordMap<R> | undefined;

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
      this.#was.set(name, line.records.get(name));
      if (record === undefined) line.records.delete(name);
      else {
        line.records.set(name, record);
        line.nameOfUid.set(record.uid, name);
        line.nameOfFolded.set(foldName(name), name);
      }
    }
    line.changes += changes.size;
    const next = new RecordMap<R>(line, line.records);
    line.newest = next;
    this.#next = next;
    return next;
  }

  /** A version beside the line, for what may never happen; the line goes on from the newest one. */
  branch(changes: ReadonlyMap<string, R | undefined>): RecordMap<R> {
    let size = this.size;
    for (const [name, record] of changes) size += Number(record !== undefined) - Number(this.has(name));
    const branch = new RecordMap<R>(this.#line, this.#line.records, size);
    for (const [name, record] of changes) branch.#was.set(name, record);
    branch.#next = this;
    return branch;
  }

  /** Names among which are all that differ between two versions; undefined when they are not of one line. */
  static changedNames<R extends StoredRecord>(
    a: ReadonlyMap<string, R>,
    b: ReadonlyMap<string, R>,
  ): ReadonlySet<string> | undefined {
    if (!(a instanceof RecordMap && b instanceof RecordMap) || a.#line !== b.#line) return undefined;
    a.#settle();
    b.#settle();
    return new Set([...a.#was.keys(), ...b.#was.keys()]);
  }

  /** The same object for all versions of which {@link changedNames} can tell the difference. */
  get line(): object {
    return this.#line;
  }

  get(name: string): R | undefined {
    if (this.#next !== undefined) {
      this.#settle();
      if (this.#was.has(name)) return this.#was.get(name);
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
    if (this.#next !== undefined) return yield* this.#copy().entries();
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
    this.#settle();
    for (const record of this.#was.values()) if (this.#next !== undefined && record && isWanted(record)) return record;
    return undefined;
  }

  /** Takes over what the versions after this one hold, so that it stands right behind the newest. */
  #settle(): void {
    for (let next = this.#next; next !== undefined && next.#next !== undefined; next = next.#next) {
      for (const [name, record] of next.#was) if (!this.#was.has(name)) this.#was.set(name, record);
      this.#next = next.#next;
    }
  }

  #copy(): Map<string, R> {
    const copy = new Map(this.#line.records);
    if (this.#next === undefined) return copy;
    this.#settle();
    for (const [name, record] of this.#was) {
      if (record === undefined) copy.delete(name);
      else copy.set(name, record);
    }
    return copy;
  }
}
