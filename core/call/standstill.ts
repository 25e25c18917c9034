import { CallerGone } from '../base/caller-gone.ts';
import { MeshError } from '../base/errors.ts';

export interface TurnClocks {
  /** Milliseconds on a clock that nobody sets. */
  monotonic(): number;
  /** Milliseconds on the clock of the host, which goes on while a virtual machine is paused. */
  wall(): number;
}

/** A process that did not turn for so long may have been replaced meanwhile by another control plane, and given up by its callers. */
const STALL_MS = 5_000;
/** Requests that are read so soon after a standstill may have waited in a socket through it. */
const SETTLE_MS = 1_000;

/**
 * Notices that this process stood still: it was stopped, its machine was paused, or its thread was busy. Whoever sent a
 * request before may have given up since, and asked another control plane.
 */
export class Standstill {
  readonly #clocks: TurnClocks;
  #last: { readonly monotonic: number; readonly wall: number };
  #endedAt = Number.NEGATIVE_INFINITY;

  constructor(clocks: TurnClocks) {
    this.#clocks = clocks;
    this.#last = { monotonic: clocks.monotonic(), wall: clocks.wall() };
  }

  /** Marks a turn of the process. Call it at least once a second, and before each request. */
  turn(): void {
    const now = { monotonic: this.#clocks.monotonic(), wall: this.#clocks.wall() };
    const stood = Math.max(now.monotonic - this.#last.monotonic, now.wall - this.#last.wall);
    if (stood > STALL_MS) this.#endedAt = now.monotonic;
    this.#last = now;
  }

  /**
   * Begins a call that was read just now.
   *
   * @returns a check to be made before each write of the call; it throws MeshError `unavailable` where the process stood
   * still since the call was sent, or the caller has gone
   */
  begin(signal: AbortSignal): () => void {
    this.turn();
    const readAt = this.#clocks.monotonic();
    return () => {
      if (signal.aborted) throw new CallerGone();
      this.turn();
      if (readAt < this.#endedAt + SETTLE_MS) throw stoodStill();
    };
  }
}

function stoodStill(): MeshError {
  const message =
    'The control plane stood still after you sent this, so it wrote nothing: others may have changed the network meanwhile. Look at what is there now, and send it again.';
  return new MeshError('unavailable', message, { retryAfterSeconds: 1 });
}
