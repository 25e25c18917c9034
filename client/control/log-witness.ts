import { readCheckpoint } from '../../core/audit/checkpoint.ts';
import { logOrigin } from '../../core/audit/log-keys.ts';
import { type StoredNote, witness } from '../../core/audit/witness.ts';
import type { Clock, Log } from '../../core/base/ports.ts';
import type { PlaneApi } from '../enrol/plane-api.ts';
import { PlaneRefusal } from '../enrol/plane-api.ts';
import type { HeartbeatReport } from './heartbeats.ts';
import type { LogFile, LogRecord, Refused } from './log-file.ts';

export interface LogWitnessOptions {
  readonly workspaceId: string;
  /** Log key of the control plane, base64; pinned when this node joined. */
  readonly controlKey: string;
  readonly file: Pick<LogFile, 'read' | 'write'>;
  readonly api: Pick<PlaneApi, 'logKeys' | 'logProof'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where this node stands with the audit log of its workspace. */
export interface LogStatus {
  readonly origin: string;
  readonly kept: StoredNote | undefined;
  readonly refused: Refused | undefined;
  /** Why nothing was verified lately; empty while nothing keeps it from being. */
  readonly trouble: string;
}

/** From one verification to the next: a network that changes each second costs a proof in ten minutes. */
const PAUSE_MS = 600_000;
/** Nodes that are sent a checkpoint at once do not ask for proofs at once. */
const SPREAD = 0.2;
/** No proof: the log is not as long, or not what is asked for. */
const NO_PROOF = new Set(['not_found', 'invalid_input']);

/**
 * Keeps the newest checkpoint of the audit log that agrees with all that this node saw before, and refuses what does not.
 * The network goes on either way.
 */
export class LogWitness {
  readonly #options: LogWitnessOptions;
  readonly #origin: string;
  #pending: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #underWay: Promise<void> | undefined;
  #nextAt = Number.NEGATIVE_INFINITY;
  #trouble = '';
  #lastReport = '';
  #isStopped = false;

  constructor(options: LogWitnessOptions) {
    this.#options = options;
    this.#origin = logOrigin(Buffer.from(options.controlKey, 'base64'), options.workspaceId);
  }

  get status(): LogStatus {
    try {
      const { kept, refused } = this.#read();
      return { origin: this.#origin, kept, refused, trouble: this.#trouble };
    } catch (error) {
      return { origin: this.#origin, kept: undefined, refused: undefined, trouble: (error as Error).message };
    }
  }

  /** A checkpoint was sent. It is verified at once the first time, later not more often than each ten minutes. */
  saw(note: string | null | undefined): void {
    if (!note || note === this.#pending || this.#isStopped) return;
    const { kept, refused, trouble } = this.status;
    if (kept?.note === note && !refused && trouble === '') return;
    this.#pending = note;
    this.#schedule();
  }

  /** Returns the payload of a heartbeat: changes, or `all`. */
  report(all: boolean): HeartbeatReport {
    const { kept, refused } = this.status;
    if (!kept && !refused) return { content: {}, taken: () => {} };
    const size = (kept && readCheckpoint(kept.note)?.size) ?? 0;
    const finding = refused && { code: refused.code, message: refused.message };
    const witnessed = { size, ...(finding && { finding }) };
    const text = JSON.stringify(witnessed);
    if (!all && text === this.#lastReport) return { content: {}, taken: () => {} };
    return {
      content: { witnessed },
      taken: () => {
        this.#lastReport = text;
      },
    };
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#underWay;
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#underWay || this.#isStopped) return;
    const wait = Math.min(Math.max(0, this.#nextAt - this.#options.clock.now()), PAUSE_MS);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#underWay = this.#verify().finally(() => {
        this.#underWay = undefined;
        if (this.#pending !== undefined) this.#schedule();
      });
    }, wait);
  }

  /** Does not reject. */
  async #verify(): Promise<void> {
    const { clock, log } = this.#options;
    const note = this.#pending ?? '';
    this.#nextAt = clock.now() + PAUSE_MS * (1 - SPREAD * Math.random());
    try {
      const before = this.#read();
      const result = await witness(note, { ...this.#context(), kept: before.kept });
      if (this.#pending === note) this.#pending = undefined;
      this.#trouble = '';
      if ('finding' in result) this.#refuse(before, { ...result.finding, at: clock.now() });
      else this.#keep(before, result.kept);
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#trouble && !this.#isStopped) log.warn({}, `the audit log was not verified: ${message}`);
      this.#trouble = message;
    }
  }

  #context() {
    const { api, clock } = this.#options;
    const proof = async (from: number, to: number) => {
      try {
        return await api.logProof(from, to);
      } catch (error) {
        if (error instanceof PlaneRefusal && NO_PROOF.has(error.code)) return error.message;
        throw error;
      }
    };
    const source = { keys: () => api.logKeys(), proof };
    return { origin: this.#origin, source, by: 'This node', now: clock.now() };
  }

  #keep(before: LogRecord, kept: StoredNote): void {
    const { file, log } = this.#options;
    if (before.kept && Buffer.compare(before.kept.key, kept.key) !== 0) {
      log.info({}, 'the audit log is signed by another key, which the one before named as the next');
    }
    if (before.refused) log.info({}, 'the audit log agrees again with what this node saw of it');
    file.write({ origin: this.#origin, kept });
  }

  #refuse(before: LogRecord, refused: Refused): void {
    const { file, log } = this.#options;
    if (before.refused?.message !== refused.message) {
      log.error({ code: refused.code }, `the audit log contradicts what this node saw of it: ${refused.message}`);
    }
    file.write({ ...before, refused });
  }

  /** A record of another log is from another control plane, which this node was enrolled with before. */
  #read(): LogRecord {
    const held = this.#options.file.read();
    return held?.origin === this.#origin ? held : { origin: this.#origin };
  }
}
