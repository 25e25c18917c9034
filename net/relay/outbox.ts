/** A span at least this long is handed on as it came; a shorter one is gathered with its neighbours. */
const UNCOPIED_SPAN_BYTES = 16_384;
/** Holds any frame; a flush seldom gathers more for one receiver. */
const SLAB_BYTES = 65_536;
/** Slabs kept for reuse: 8 MiB. */
const MAX_IDLE_SLABS = 128;

/** Slabs that are not in use, shared by all receivers of a relay. */
export class SlabPool {
  readonly #idle: Uint8Array[] = [];

  take(): Uint8Array {
    return this.#idle.pop() ?? new Uint8Array(SLAB_BYTES);
  }

  give(slab: Uint8Array): void {
    if (this.#idle.length < MAX_IDLE_SLABS) this.#idle.push(slab);
  }
}

/** Bytes to write; `slab` goes back to the pool when they are written. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly slab?: Uint8Array;
}

/**
 * What waits for one receiver. Small frames gather in a slab, long spans pass uncopied, and nothing is taken while an
 * earlier batch is still being written, so a receiver that stops reading holds its cap and no more.
 */
export class Outbox {
  readonly #pool: SlabPool;
  readonly #cap: number;
  #pieces: Piece[] = [];
  #slab: Uint8Array | undefined;
  #filled = 0;
  #queued = 0;
  #writing: readonly Piece[] = [];
  #writingBytes = 0;

  constructor(pool: SlabPool, capBytes: number) {
    this.#pool = pool;
    this.#cap = capBytes;
  }

  /** Bytes accepted and not yet written. */
  get queuedBytes(): number {
    return this.#queued;
  }

  get isWriting(): boolean {
    return this.#writing.length > 0;
  }

  hasRoom(bytes: number): boolean {
    return this.#queued + bytes <= this.#cap;
  }

  /** Adds bytes that are used again after this call. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (this.#slab !== undefined && SLAB_BYTES - this.#filled < length) this.#closeSlab();
    this.#slab ??= this.#pool.take();
    this.#slab.set(bytes.subarray(start, end), this.#filled);
    this.#filled += length;
    this.#queued += length;
  }

  /** Adds bytes that are nobody else's from now on; copies all the same when that holds less memory. */
  pass(bytes: Uint8Array, start: number, end: number): void {
    if (end - start < UNCOPIED_SPAN_BYTES || this.isWriting) {
      // A span is at most a read of the socket; it may be longer than a slab.
      for (let at = start; at < end; at += SLAB_BYTES) this.copy(bytes, at, Math.min(end, at + SLAB_BYTES));
      return;
    }
    this.#closeSlab();
    this.#pieces.push({ bytes: bytes.subarray(start, end) });
    this.#queued += end - start;
  }

  /** The next batch to write; empty while one is under way. Call `written` when it is done. */
  take(): readonly Piece[] {
    if (this.isWriting) return [];
    this.#closeSlab();
    if (this.#pieces.length === 0) return [];
    this.#writing = this.#pieces;
    this.#writingBytes = this.#queued;
    this.#pieces = [];
    return this.#writing;
  }

  /** The batch taken last has been written. */
  written(): void {
    for (const { slab } of this.#writing) if (slab !== undefined) this.#pool.give(slab);
    this.#queued -= this.#writingBytes;
    this.#writing = [];
    this.#writingBytes = 0;
  }

  /** Forgets everything; slabs being written are left to the garbage collector, since the socket may still read them. */
  clear(): void {
    this.#pieces = [];
    this.#slab = undefined;
    this.#filled = 0;
    this.#queued = 0;
    this.#writing = [];
    this.#writingBytes = 0;
  }

  #closeSlab(): void {
    if (this.#slab === undefined) return;
    this.#pieces.push({ bytes: this.#slab.subarray(0, this.#filled), slab: this.#slab });
    this.#slab = undefined;
    this.#filled = 0;
  }
}
