import type { Log } from '../../core/base/ports.ts';
import type { EgressUse } from './egress.ts';

/** So many attempts of one kind, as the control plane takes them. */
export interface CountedUse {
  readonly destination: string;
  readonly outcome: EgressUse['outcome'];
  readonly count: number;
}

/** Kinds in one report. Programs make destinations up: what is more is not reported. */
export const MAX_KINDS = 16;
/** After the first attempt, so that those of a moment go together. */
const FIRST_MS = 500;
const BETWEEN_MS = 10_000;

/** Reports the use of egress to the control plane, counted: now and then, whatever programs do. */
export class EgressReport {
  readonly #send: (uses: readonly CountedUse[]) => Promise<unknown>;
  readonly #log: Log;
  #uses = new Map<string, CountedUse>();
  #timer: NodeJS.Timeout | undefined;
  #nextAt = 0;
  #isClosed = false;

  constructor(send: (uses: readonly CountedUse[]) => Promise<unknown>, log: Log) {
    this.#send = send;
    this.#log = log;
  }

  add({ destination, outcome }: EgressUse): void {
    if (this.#isClosed) return;
    const key = `${outcome} ${destination}`;
    const known = this.#uses.get(key);
    if (known === undefined && this.#uses.size >= MAX_KINDS) return;
    this.#uses.set(key, { destination, outcome, count: (known?.count ?? 0) + 1 });
    this.#timer ??= setTimeout(() => void this.flush(), Math.max(FIRST_MS, this.#nextAt - performance.now()));
  }

  /** Sends the last report: the token ends with the sandbox. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.flush();
  }

  /** Sends what there is now. Never throws. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#uses.size === 0) return;
    const uses = [...this.#uses.values()];
    this.#uses = new Map();
    this.#nextAt = performance.now() + BETWEEN_MS;
    try {
      await this.#send(uses);
    } catch (error) {
      this.#log.warn({}, `the control plane does not take the report on egress: ${(error as Error).message}`);
    }
  }
}
