import { hashOfEntry } from '../../audit/leaf.ts';
import { GrowingTree, peaksOf } from '../../audit/tree.ts';
import type { AuditEntry } from '../../base/ports.ts';
import { TEXT_LIMITS } from '../../base/text.ts';
import { ReportedRecords } from '../reported-records.ts';
import { LineReader } from './lines.ts';

/** Workflows, and snapshots, that are held at once: whoever signs an archive could make them more than memory has. */
const MAX_REPORTED = 1_000_000;

/** The entries of `audit-log.jsonl`: their tree, and what they tell of. */
export class LogLines {
  readonly #lines = new LineReader();
  readonly #tree: GrowingTree;
  #newest = 0;
  /** The instant of the first entry, ms. */
  oldest: number | undefined;
  /** True while no entry is older than the one before it. */
  isOrdered = true;
  count = 0;
  /** Ids of the assessments that the last entry stored. */
  lastAssessments: readonly string[] = [];
  readonly told = new ReportedRecords();
  readonly firstSeq: number;
  /** Hashes of the complete subtrees before the first entry. */
  readonly before: readonly Uint8Array[];
  /** The root at each requested size. */
  readonly roots: ReadonlyMap<number, Uint8Array>;
  readonly #roots = new Map<number, Uint8Array>();
  readonly #wanted: ReadonlySet<number>;
  readonly #maxTold: number;

  /**
   * @param sizes of which `roots` is to tell the roots
   * @param maxTold workflows, and snapshots, that it may tell of
   * @throws SyntaxError where these are not the hashes of that many entries
   */
  constructor(firstSeq: number, before: readonly Uint8Array[], sizes: Iterable<number> = [], maxTold = MAX_REPORTED) {
    if (peaksOf(firstSeq).length !== before.length) throw new SyntaxError('log_range.before has not as many hashes');
    this.#tree = new GrowingTree(firstSeq, before);
    this.firstSeq = firstSeq;
    this.before = before;
    this.#wanted = new Set(sizes);
    this.#maxTold = maxTold;
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
    const told = changes.filter(({ kind }) => kind === 'Workflow' || kind === 'Snapshot');
    if (told.some(({ name, uid }) => !isId(name) || !isId(uid))) throw new SyntaxError('a line is no entry');
    if (commit) this.told.take({ commit });
    if (Math.max(this.told.workflows.size, this.told.snapshots.size) > this.#maxTold)
      throw new SyntaxError(`it tells of more than ${this.#maxTold} workflows or snapshots: export shorter periods`);
  }

  #noteRoot(): void {
    if (this.#wanted.has(this.#tree.size)) this.#roots.set(this.#tree.size, this.#tree.root());
  }
}

function isId(text: unknown): boolean {
  return typeof text === 'string' && text.length <= TEXT_LIMITS.id;
}
