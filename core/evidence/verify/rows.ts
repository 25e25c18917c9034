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
export class TimelineRows implements RowCounter {
  readonly #lines = new LineReader();
  count = 0;
  /** Ids that the log does not tell of. */
  readonly unknown: string[] = [];
  readonly #log: LogLines;

  constructor(log: LogLines) {
    this.#log = log;
  }

  read(piece: string): void {
    for (const line of this.#lines.read(piece)) {
      if (line === '[' || line === ']' || line === '[]') continue;
      const { snapshot_id: id } = JSON.parse(line.replace(/,$/, '')) as { snapshot_id?: unknown };
      this.count += 1;
      if (typeof id !== 'string' || !this.#log.snapshots.has(id)) this.unknown.push(String(id).slice(0, 80));
      else this.#log.snapshots.delete(id);
    }
  }

  end(): void {
    this.#lines.end();
  }

  /** Snapshots of a period that the log tells of and that no row has had. */
  missing({ from, to }: { readonly from: number; readonly to: number }): number {
    return [...this.#log.snapshots.values()].filter((at) => at >= from && at <= to).length;
  }
}

/** `workflow-audit-log.csv`. */
export class WorkflowRows implements RowCounter {
  readonly #csv = new CsvReader();
  readonly #left: Set<string>;
  #hasHead = false;
  count = 0;
  readonly unknown: string[] = [];

  constructor(log: LogLines) {
    this.#left = new Set(log.workflows);
  }

  read(piece: string): void {
    for (const [id = '', ...cells] of this.#csv.read(piece)) {
      if (cells.length + 1 !== CSV_COLUMNS.length) throw new SyntaxError('a row has not as many cells');
      if (!this.#hasHead) {
        this.#hasHead = true;
        continue;
      }
      this.count += 1;
      if (!this.#left.delete(id)) this.unknown.push(id.slice(0, 80));
    }
  }

  end(): void {
    this.#csv.end();
  }

  get missing(): readonly string[] {
    return [...this.#left];
  }
}
