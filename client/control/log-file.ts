import type { StoredNote } from '../../core/audit/witness.ts';
import { ifIs, integer, json, object, text } from '../../core/base/shape.ts';
import { StateFile } from '../enrol/state-file.ts';

/** Why a checkpoint was refused. */
export interface Refused {
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

export interface LogRecord {
  /** Which log it is of. */
  readonly origin: string;
  readonly kept?: StoredNote;
  /** Checkpoint that was refused last; absent once one agreed again. */
  readonly refused?: Refused;
}

const MAX_NOTE = 4_096;
const fileShape = json(
  object(
    { origin: text(512) },
    {
      kept: object({ note: text(MAX_NOTE), key: text(44, /^[A-Za-z0-9+/]{43}=$/), at: integer(0) }),
      refused: object({ code: text(64), message: text(MAX_NOTE), at: integer(0) }),
    },
  ),
);

/** The last checkpoint of the audit log that this node verified, on disk: a later log has to hold it. */
export class LogFile {
  readonly #file: StateFile;

  constructor(directory: string | undefined) {
    this.#file = new StateFile(directory, 'audit-log.json');
  }

  get name(): string {
    return this.#file.name;
  }

  /**
   * Read anew each time: who takes the file away lets the node begin anew.
   *
   * @returns undefined where there is none
   * @throws Error where it is damaged or cannot be read: what it would show is lost, which is to be told
   */
  read(): LogRecord | undefined {
    let held: string;
    try {
      held = this.#file.read();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    const file = ifIs(fileShape, held);
    if (!file) throw new Error(`${this.name} is damaged: move it away to begin anew; what it would show is lost.`);
    const { kept, ...others } = file;
    return { ...others, ...(kept && { kept: { ...kept, key: Buffer.from(kept.key, 'base64') } }) };
  }

  write({ kept, ...others }: LogRecord): void {
    const key = kept && Buffer.from(kept.key).toString('base64');
    this.#file.replace(`${JSON.stringify({ ...others, kept: kept && { ...kept, key } }, null, 2)}\n`);
  }
}
