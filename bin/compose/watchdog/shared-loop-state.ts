import type { LoopSample } from './stall-count.ts';

const TURNS = 0;
const PHASE = 1;
const STALLS = 2;
const LENGTH = 3;

const PHASES = ['starting', 'serving', 'stopping'] as const satisfies readonly LoopSample['phase'][];

/** State that the serving thread and its watchdog share in memory, which both read while neither can listen. */
export class SharedLoopState {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: Int32Array;

  constructor(buffer = new SharedArrayBuffer(LENGTH * Int32Array.BYTES_PER_ELEMENT)) {
    this.buffer = buffer;
    this.#cells = new Int32Array(buffer);
  }

  turn(): void {
    Atomics.add(this.#cells, TURNS, 1);
  }

  enter(phase: LoopSample['phase']): void {
    Atomics.store(this.#cells, PHASE, PHASES.indexOf(phase));
  }

  countStall(): void {
    Atomics.add(this.#cells, STALLS, 1);
  }

  /** Stalls reported since the start. */
  stalls(): number {
    return Atomics.load(this.#cells, STALLS);
  }

  look(at: number): LoopSample {
    const phase = PHASES[Atomics.load(this.#cells, PHASE)] ?? 'starting';
    return { at, turns: Atomics.load(this.#cells, TURNS), phase };
  }
}
