import { randomInt } from 'node:crypto';
import { z } from 'zod';
import type { Clock, Log } from '../base/ports.ts';
import type { SharedCalls } from '../base/shared.ts';
import { type Calls, TRACE_LIMITS, type TracedBy, type TracedCall } from './call-trace.ts';

/** Calls that wait to be kept; while the store is away the newest of them. */
const MAX_WAITING = 2_000;
/** In one write: with the longest inputs and results some megabytes. */
const BATCH = 500;

const tracedCall = z.object({
  seq: z.int(),
  at: z.int(),
  operation: z.string(),
  face: z.enum(['rest', 'mcp']),
  outcome: z.string(),
  input: z.string(),
  result: z.string(),
  requestId: z.string(),
});

interface UnsentCall extends TracedBy {
  readonly seq: number;
  readonly text: string;
}

/** Calls of agents and programs at any control plane. Each is stored a moment after the call, which does not wait for it. */
export class SharedCallTrace implements Calls {
  readonly #shared: SharedCalls;
  readonly #clock: Clock;
  readonly #log: Pick<Log, 'warn'>;
  #waiting: UnsentCall[] = [];
  #turn: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #lastSeq = 0;

  constructor(shared: SharedCalls, { clock, log }: { readonly clock: Clock; readonly log: Pick<Log, 'warn'> }) {
    this.#shared = shared;
    this.#clock = clock;
    this.#log = log;
  }

  keep({ workspace, caller, family }: TracedBy, call: Omit<TracedCall, 'seq'>): void {
    // Two control planes seldom have the same, and then a page that ends there may leave one out.
    this.#lastSeq = Math.max(this.#lastSeq + 1, this.#clock.now() * 1_000 + randomInt(1_000));
    const seq = this.#lastSeq;
    this.#waiting.push({ workspace, caller, family, seq, text: JSON.stringify({ ...call, seq }) });
    if (this.#waiting.length > MAX_WAITING) this.#waiting.shift();
    void this.#write();
  }

  async of(by: TracedBy): Promise<readonly TracedCall[]> {
    await this.#write();
    const texts = await this.#shared.newest(by, TRACE_LIMITS.calls);
    return texts.flatMap((text) => tracedCall.safeParse(JSON.parse(text)).data ?? []);
  }

  close(): Promise<void> {
    return this.#write();
  }

  /** Writes all pending calls. Calls that arrive during a write go with the next one. */
  #write(): Promise<void> {
    this.#next ??= this.#turn.then(() => {
      this.#next = undefined;
      return this.#writeAll();
    });
    this.#turn = this.#next;
    return this.#next;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      this.#waiting = this.#waiting.slice(BATCH);
      try {
        await this.#shared.append(batch);
      } catch (error) {
        this.#waiting = [...batch, ...this.#waiting].slice(-MAX_WAITING);
        this.#log.warn({ err: error }, 'calls of agents are kept later');
        return;
      }
    }
  }
}
