import { hashOfEntry } from '../../audit/leaf.ts';
import { GrowingTree, peaksOf } from '../../audit/tree.ts';
import type { AuditEntry } from '../../base/ports.ts';
import { ToldRecords } from '../told.ts';
import { LineReader } from './lines.ts';

/** The entries of `audit-log.jsonl`: their tree, and what they tell of. */
export class LogLines {
  readonly #lines = new LineReader();
  readonly #tree: GrowingTree;
  #newest = 0;
  /** Of the first entry, ms. */
  oldest: number | undefined;
  /** Whether no entry is older than the one before it. */
  isOrdered = true;
  count = 0;
  /** Ids of the assessments that the last entry stored. */
  lastAssessments: readonly string[] = [];
  readonly told = new ToldRecords();
  readonly firstSeq: number;
  /** Hashes of the complete subtrees before the first entry. */
  readonly before: readonly Uint8Array[];
  /** What the root was, by size. */
  readonly roots: ReadonlyMap<number, Uint8Array>;
  readonly #roots = new Map<number, Uint8Array>();
  readonly #wanted: ReadonlySet<number>;

  /**
   * @param sizes of which `roots` is to tell the roots
   * @throws SyntaxError where these are not the hashes of that many entries
   */
  constructor(firstSeq: number, before: readonly Uint8Array[], sizes: Iterable<number> = []) {
    if (peaksOf(firstSeq).length !== before.length) throw new SyntaxError('log_range.before has not as many hashes');
    this.#tree = new GrowingTree(firstSeq, before);
    this.firstSeq = firstSeq;
    this.before = before;
    this.#wanted = new Set(sizes);
    this.roots = this.#roots;
    this.#noteRoot();
  }

  /** @throws SyntaxError for what is no entry */
  read(piece: string): void {
    for (const line of this.#lines.read(piece)) this.#take(line);
  }

  end(): void {
    this.#lines.end();
  }

  get size(): number {
    return this.#tree.size;
  }

  root(): Uint8Array {
    return this.#tree.root();
  }

  #take(line: string): void {
    this.#tree.append(hashOfEntry(line));
    this.#noteRoot();
    this.count += 1;
    const entry = JSON.parse(line) as Partial<Pick<AuditEntry, 'at' | 'commit'>> | null;
    if (typeof entry?.at !== 'number') throw new SyntaxError('a line is no entry');
    const { at, commit } = entry;
    this.oldest ??= at;
    if (at < this.#newest) this.isOrdered = false;
    this.#newest = at;
    const changes = commit?.changes ?? [];
    this.lastAssessments = changes.filter(({ kind }) => kind === 'Assessment').map(({ uid }) => uid);
    if (commit) this.told.take({ commit });
  }

  #noteRoot(): void {
    if (this.#wanted.has(this.#tree.size)) this.#roots.set(this.#tree.size, this.#tree.root());
  }
}
