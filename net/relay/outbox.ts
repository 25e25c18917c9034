/** A flush seldom gathers more for one receiver. */
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

/** The filled part of a slab; the slab goes back to the pool when it is written. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly slab: Uint8Array;
}

/**
 * What waits for one receiver. Frames gather in slabs, and nothing is taken while an earlier batch is still being written,
 * so a receiver that stops reading holds its cap and no more.
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

  /** Adds bytes; they are the caller's again after this call. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    this.#queued += end - start;
    for (let at = start; at < end; ) {
      if (this.#filled === SLAB_BYTES) this.#closeSlab();
      this.#slab ??= this.#pool.take();
      const until = Math.min(end, at + SLAB_BYTES - this.#filled);
      this.#slab.set(bytes.subarray(at, until), this.#filled);
      this.#filled += until - at;
      at = until;
    }
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
    for (const { slab } of this.#writing) this.#pool.give(slab);
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
