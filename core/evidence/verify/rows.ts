import { CsvReader } from '../csv.ts';
import { CSV_COLUMNS } from '../raw-files.ts';
import { LineReader } from './lines.ts';
import type { LogLines } from './log.ts';

/** Counts the rows of a file as it comes in. Each throws SyntaxError for what is not written so. */
export interface RowCounter {
  read(piece: string): void;
  end(): void;
  readonly count: number;
}

/** Rows of a population that the log tells of. */
export interface ReportedRows extends RowCounter {
  readonly unknown: UnknownRows;
  /** Ids that the log tells of and that have no row. */
  readonly missing: readonly string[];
}

/** Rows that the log does not tell of: the id of the first, and how many, whatever their number. */
export class UnknownRows {
  first = '';
  count = 0;

  add(id: unknown): void {
    if (this.count === 0) this.first = String(id).slice(0, 80);
    this.count += 1;
  }
}

/** Documents of YAML, each of which begins on a line of its own. */
export class YamlDocuments implements RowCounter {
  readonly #lines = new LineReader();
  count = 0;

  read(piece: string): void {
    this.count += this.#lines.read(piece).filter((line) => line === '---').length;
  }

  end(): void {
    this.#lines.end();
  }
}

/** `snapshots-timeline.json`: an array with a row on each line. */
export class TimelineRows implements ReportedRows {
  readonly #lines = new LineReader();
  count = 0;
  readonly unknown = new UnknownRows();
  readonly #left: Map<string, string>;

  /** @param period ms; snapshots of another time have no place here */
  constructor({ told }: LogLines, period: { readonly from: number; readonly to: number }) {
    this.#left = new Map(told.snapshotsIn(period));
  }

  read(piece: string): void {
    for (const line of this.#lines.read(piece)) {
      if (line === '[' || line === ']' || line === '[]') continue;
      const { snapshot_id: id } = JSON.parse(line.replace(/,$/, '')) as { snapshot_id?: unknown };
      this.count += 1;
      if (typeof id !== 'string' || !this.#left.delete(id)) this.unknown.add(id);
    }
  }

  end(): void {
    this.#lines.end();
  }

  /** Snapshots of the period that the log tells of and that no row has had. */
  get missing(): readonly string[] {
    return [...this.#left.keys()];
  }
}

/** `workflow-audit-log.csv`. */
export class WorkflowRows implements ReportedRows {
  readonly #csv = new CsvReader();
  readonly #left: Set<string>;
  #hasHead = false;
  count = 0;
  readonly unknown = new UnknownRows();

  constructor(log: LogLines) {
    this.#left = new Set(log.told.workflows);
  }

  read(piece: string): void {
    for (const [id = '', ...cells] of this.#csv.read(piece)) {
      if (cells.length + 1 !== CSV_COLUMNS.length) throw new SyntaxError('a row has not as many cells');
      if (!this.#hasHead) {
        this.#hasHead = true;
        continue;
      }
      this.count += 1;
      if (!this.#left.delete(id)) this.unknown.add(id);
    }
  }

  end(): void {
    this.#csv.end();
  }

  get missing(): readonly string[] {
    return [...this.#left];
  }
}
