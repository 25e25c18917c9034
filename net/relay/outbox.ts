import { SLAB_BYTES, type SlabPool } from './slab-pool.ts';

/** Room for the relay's own messages until a connection is ready, and for each answer after that. */
const OWN_BYTES = 256;

/** The filled part of a slab, which goes to the pool when it is written, or of a small buffer, which does not. */
export interface Piece {
  readonly bytes: Uint8Array;
  readonly slab: Uint8Array<ArrayBuffer>;
}

/**
 * The output that waits for one receiver. Frames gather in slabs, and nothing is taken while an earlier batch is still being
 * written, so a receiver that stops reading holds its cap and no more.
 */
export class Outbox {
  readonly #pool: SlabPool;
  readonly #cap: number;
  #pieces: Piece[] = [];
  #slab: Uint8Array<ArrayBuffer> | undefined;
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

  /**
   * Adds a frame of the relay's own. Where nothing else waits it takes a small buffer, so that thousands of connections that
   * are told something at once hold little. Behind a slab it goes into the slab: no more than one is ever partly filled.
   */
  add(frame: Uint8Array): void {
    this.#slab ??= new Uint8Array(OWN_BYTES);
    this.copy(frame, 0, frame.length);
  }

  /** Adds bytes; they are the caller's again after this call. */
  copy(bytes: Uint8Array, start: number, end: number): void {
    this.#queued += end - start;
    for (let at = start; at < end; ) {
      if (this.#filled === this.#slab?.length) this.#closeSlab();
      this.#slab ??= this.#pool.take();
      const until = Math.min(end, at + this.#slab.length - this.#filled);
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
    for (const { slab } of this.#writing) if (slab.length === SLAB_BYTES) this.#pool.give(slab);
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
