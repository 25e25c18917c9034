import type { Finding } from '../../../core/audit/findings.ts';
import { hashOfEntry } from '../../../core/audit/leaf.ts';
import { GrowingTree } from '../../../core/audit/tree.ts';
import type { AuditEntry, Change } from '../../../core/base/ports.ts';
import { foldName, type Kind } from '../../../core/base/record.ts';
import { COMPACTED, type CompactionDetail } from '../../compaction.ts';
import type { Database } from '../database.ts';
import { LEAF_DIFFERED, WITNESSED } from '../make-trees.ts';
import { joinHashes } from '../tree.ts';
import type { WorkspaceRow } from '../workspaces.ts';

/** The change of a record by a revision, according to the log. */
export interface LoggedChange {
  readonly revision: number;
  readonly type: Change['type'];
  /** Absent for a deletion, and where the log tells of no contents. */
  digest?: string | undefined;
}

/** By kind and folded name, in the order of the log. */
export type LoggedHistory = Map<string, LoggedChange[]>;

export interface RecomputedLog {
  readonly compactions: readonly CompactionDetail[];
  readonly leaves: readonly Uint8Array[];
  readonly history: LoggedHistory;
  /** The time of the newest entry. */
  readonly at: number;
  readonly revision: number;
  readonly witnessedFrom: number | undefined;
  readonly findings: readonly Finding[];
}

interface Row {
  readonly seq: number;
  readonly at: number;
  readonly revision: number | null;
  readonly hashes: Uint8Array;
  readonly entry: string;
}

export const keyOf = (kind: string, name: string) => `${kind}/${foldName(name)}`;

/** Reads a log from its first entry on, and everything that it says of itself. */
export function recompute(database: Database, { id, name }: WorkspaceRow): RecomputedLog {
  const rows = database.statement<Row>(
    'SELECT seq, at, revision, hashes, entry FROM audit WHERE ws = ? AND seq >= ? ORDER BY seq LIMIT 1',
  );
  const walk = new Walk(name);
  surviving(walk.findings, `The log of ${name} after its first ${walk.leaves.length} entries`, () => {
    for (let row = rows.get(id, 0); row; row = rows.get(id, row.seq + 1)) walk.take(row);
  });
  return walk;
}

/** Runs a part of the verification: what it cannot read is a finding, and other parts go on. */
export function surviving(findings: Finding[], what: string, part: () => void): void {
  try {
    part();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    findings.push({ code: 'damaged', message: `${what} cannot be read: ${why.slice(0, 200)}.` });
  }
}

class Walk implements RecomputedLog {
  readonly leaves: Uint8Array[] = [];
  readonly history: LoggedHistory = new Map();
  readonly findings: Finding[] = [];
  readonly compactions: CompactionDetail[] = [];
  at = 0;
  revision = 0;
  witnessedFrom: number | undefined;
  readonly #workspace: string;
  readonly #tree = new GrowingTree();
  /** Above a leaf that differs every subtree does. */
  #isIntact = true;
  #seq = 0;

  constructor(workspace: string) {
    this.#workspace = workspace;
  }

  take(row: Row): void {
    if (row.seq !== this.#seq) this.#find('entry_removed', `Entries ${this.#seq} to ${row.seq - 1} are missing.`);
    this.#seq = row.seq + 1;
    this.#hash(row);
    const entry = parse(row.entry);
    if (!entry) {
      this.#find('entry_changed', `Entry ${row.seq} is no entry.`);
      return;
    }
    if (entry.at !== row.at || entry.workspace !== this.#workspace || row.at < this.at) {
      this.#find(
        'order',
        `Entry ${row.seq} does not belong where it stands: it is of ${entry.workspace} at ${entry.at} ms.`,
      );
    }
    this.at = row.at;
    if (entry.commit) this.#commit(row, entry.commit);
    else if (row.revision !== null)
      this.#find('order', `Entry ${row.seq} stands as revision ${row.revision}, and commits nothing.`);
    this.#event(row, entry.event);
  }

  #event(row: Row, event: AuditEntry['event']): void {
    const { type, detail = {} } = event ?? {};
    if (type === WITNESSED) this.#witness(row, detail);
    const { upTo, keep, isMark, entries } = detail;
    if (type === COMPACTED && typeof upTo === 'number' && Array.isArray(keep))
      this.compactions.push({ upTo, keep, ...(isMark === true && { isMark }) });
    if (type !== LEAF_DIFFERED || !Array.isArray(entries)) return;
    for (const seq of entries) {
      this.#find(
        'entry_changed',
        `Entry ${seq}: its text was not the one that was hashed when the store was upgraded.`,
      );
    }
  }

  #hash({ seq, hashes, entry }: Row): void {
    const computed = this.#tree.append(hashOfEntry(entry));
    const [leaf = Buffer.of()] = computed;
    this.leaves.push(leaf);
    if (Buffer.compare(hashes.subarray(0, leaf.length), leaf) !== 0) {
      this.#isIntact = false;
      this.#find('entry_changed', `Entry ${seq}: its text is not the one that was hashed.`);
    } else if (this.#isIntact && Buffer.compare(hashes, joinHashes(computed)) !== 0) {
      this.#isIntact = false;
      this.#find('root', `Entry ${seq}: the hashes that it completes are not those of the entries before.`);
    }
  }

  #commit({ seq, revision }: Row, commit: NonNullable<AuditEntry['commit']>): void {
    if (commit.revision !== revision || revision !== this.revision + 1) {
      this.#find('order', `Entry ${seq} is of revision ${commit.revision}, after revision ${this.revision}.`);
    }
    this.revision = commit.revision;
    for (const { kind, name, type, digest } of commit.changes) {
      const key = keyOf(kind, name);
      const changes = this.history.get(key) ?? [];
      changes.push({ revision: commit.revision, type, digest });
      this.history.set(key, changes);
    }
  }

  /**
   * Records the digests that an entry witnesses. For contents that an older version wrote, the first entry that states a digest
   * counts.
   */
  #witness({ seq, at }: Row, detail: Readonly<Record<string, unknown>> = {}): void {
    this.witnessedFrom ??= at;
    const told = detail['records'];
    for (const { kind, name, revision, digest } of Array.isArray(told) ? told.filter(isWitnessed) : []) {
      const change = this.history.get(keyOf(kind, name))?.findLast((each) => each.revision === revision);
      if (change && change.type !== 'deleted') change.digest ??= digest;
      if (change?.digest !== digest) {
        this.#find(
          'record_unknown',
          `Entry ${seq} tells of ${kind} ${name} at revision ${revision}, which no commit wrote so.`,
        );
      }
    }
  }

  #find(code: Finding['code'], message: string): void {
    this.findings.push({ code, message: `${this.#workspace}: ${message}` });
  }
}

function parse(text: string): Omit<AuditEntry, 'seq'> | undefined {
  try {
    const entry = JSON.parse(text);
    return isEntry(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function isEntry(entry: unknown): entry is Omit<AuditEntry, 'seq'> {
  if (!isObject(entry)) return false;
  const { commit, event } = entry;
  const isCommit = commit === undefined || (isObject(commit) && isListOf(commit['changes'], isChange));
  const detail = isObject(event) ? event['detail'] : undefined;
  return isCommit && (event === undefined || isObject(event)) && (detail === undefined || isObject(detail));
}

function isListOf(list: unknown, isOne: (value: unknown) => boolean): boolean {
  return Array.isArray(list) && list.every(isOne);
}

function isChange(change: unknown): boolean {
  return isObject(change) && ['kind', 'name', 'type'].every((field) => typeof change[field] === 'string');
}

interface WitnessedRecord {
  readonly kind: Kind;
  readonly name: string;
  readonly revision: number;
  readonly digest: string;
}

function isWitnessed(record: unknown): record is WitnessedRecord {
  return isObject(record) && typeof record['kind'] === 'string' && typeof record['name'] === 'string';
}
