import { hashOfEntry } from '../../audit/leaf.ts';
import { GrowingTree, peaksOf } from '../../audit/tree.ts';
import type { AuditEntry } from '../../base/ports.ts';
import { capturedAtOf } from '../../history/snapshot-record.ts';
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
  readonly workflows = new Set<string>();
  /** When each snapshot that is there was captured, ms, by id. */
  readonly snapshots = new Map<string, number>();

  /** @throws SyntaxError where these are not the hashes of that many entries */
  constructor(firstSeq: number, before: readonly Uint8Array[]) {
    if (peaksOf(firstSeq).length !== before.length) throw new SyntaxError('log_range.before has not as many hashes');
    this.#tree = new GrowingTree(firstSeq, before);
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
    this.count += 1;
    const { at, commit } = JSON.parse(line) as Partial<AuditEntry>;
    if (typeof at !== 'number') throw new SyntaxError('a line is no entry');
    this.oldest ??= at;
    if (at < this.#newest) this.isOrdered = false;
    this.#newest = at;
    const changes = commit?.changes ?? [];
    this.lastAssessments = changes.filter(({ kind }) => kind === 'Assessment').map(({ uid }) => uid);
    for (const { type, kind, name, uid } of changes) {
      if (kind === 'Workflow') this.workflows.add(name);
      if (kind !== 'Snapshot') continue;
      if (type === 'deleted') this.snapshots.delete(uid);
      else this.snapshots.set(uid, capturedAtOf(name));
    }
  }
}
