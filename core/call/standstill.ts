import { CallerDisconnected } from '../base/caller-disconnected.ts';
import { MeshError } from '../base/errors.ts';

export interface TurnClocks {
  /** Milliseconds on a clock that nobody sets. */
  monotonic(): number;
  /** Milliseconds on the clock of the host, which goes on while a virtual machine is paused. */
  wall(): number;
}

/** A process that did not turn for so long may have been replaced meanwhile by another control plane, and given up by its callers. */
const STALL_MS = 5_000;
/**
 * Notices that this process stood still: it was stopped, its machine was paused, or its thread was busy. Whoever sent a
 * request before may have given up since, and asked another control plane.
 */
export class Standstill {
  readonly #clocks: TurnClocks;
  readonly #drained: () => Promise<unknown>;
  #last: { readonly monotonic: number; readonly wall: number };
  /** Requests that were read by then may have been sent before the last standstill ended. */
  #suspectUntil = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** @param drained resolves once all that waited in sockets when it was called has been read */
  constructor(clocks: TurnClocks, drained: () => Promise<unknown>) {
    this.#clocks = clocks;
    this.#drained = drained;
    this.#last = { monotonic: clocks.monotonic(), wall: clocks.wall() };
  }

  /** Marks a turn of the process. Call it at least once a second, and before each request. */
  turn(): void {
    const now = { monotonic: this.#clocks.monotonic(), wall: this.#clocks.wall() };
    const stood = Math.max(now.monotonic - this.#last.monotonic, now.wall - this.#last.wall);
    if (stood > STALL_MS) void this.#settle();
    this.#last = now;
  }

  async #settle(): Promise<void> {
    this.#count += 1;
    const nth = this.#count;
    this.#suspectUntil = Number.POSITIVE_INFINITY;
    await this.#drained();
    if (nth === this.#count) this.#suspectUntil = this.#clocks.monotonic();
  }

  /**
   * Begins a call.
   *
   * @param readAt when its request was read, by the monotonic clock: now, unless the face has waited since
   * @returns a check to be made before each write of the call; it throws MeshError `unavailable` where the process stood
   * still since the call was sent, or the caller has gone
   */
  begin(signal: AbortSignal, readAt = this.#clocks.monotonic()): () => void {
    this.turn();
    return () => {
      if (signal.aborted) throw new CallerDisconnected();
      this.turn();
      if (readAt <= this.#suspectUntil) throw stoodStill();
    };
  }
}

function stoodStill(): MeshError {
  const message =
    'The control plane stood still after you sent this, so it wrote nothing: others may have changed the network meanwhile. Look at what is there now, and send it again.';
  return new MeshError('unavailable', message, { retryAfterSeconds: 1 });
}
