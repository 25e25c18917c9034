import { LARGE_BUFFER_BYTES, POOLED_LARGE_BUFFERS, POOLED_SMALL_BUFFERS, SMALL_BUFFER_BYTES } from './limits.ts';

/** Buffers in two sizes, lent for a tick. An idle connection holds none. */
export class BufferPool {
  readonly #small: Uint8Array[] = [];
  readonly #large: Uint8Array[] = [];

  take(bytes: number): Uint8Array {
    if (bytes <= SMALL_BUFFER_BYTES) return this.#small.pop() ?? new Uint8Array(SMALL_BUFFER_BYTES);
    if (bytes <= LARGE_BUFFER_BYTES) return this.#large.pop() ?? new Uint8Array(LARGE_BUFFER_BYTES);
    return new Uint8Array(bytes);
  }

  /** Takes back a buffer that nobody reads any more; one of another size is left to the garbage collector. */
  give(buffer: Uint8Array): void {
    if (buffer.length === SMALL_BUFFER_BYTES) {
      if (this.#small.length < POOLED_SMALL_BUFFERS) this.#small.push(buffer);
    } else if (buffer.length === LARGE_BUFFER_BYTES) {
      if (this.#large.length < POOLED_LARGE_BUFFERS) this.#large.push(buffer);
    }
  }
}

const NO_BYTES = new Uint8Array(0);

/** Bytes on the way to one receiver, in order. */
export class Outbox {
  readonly #pool: BufferPool;
  #current: Uint8Array = NO_BYTES;
  #length = 0;
  /** Filled buffers before the current one. */
  #full: Chunk[] | undefined;
  #fullBytes = 0;

  constructor(pool: BufferPool) {
    this.#pool = pool;
  }

  get bytes(): number {
    return this.#fullBytes + this.#length;
  }

  /** Appends two runs of bytes. Returns true when a new buffer was needed: time to look at limits. */
  append(head: Uint8Array, tail: Uint8Array): boolean {
    const at = this.#length;
    const middle = at + head.length;
    const end = middle + tail.length;
    if (end > this.#current.length) return this.#grow(head, tail);
    this.#current.set(head, at);
    this.#current.set(tail, middle);
    this.#length = end;
    return false;
  }

  /** Everything appended so far, as buffers the caller gives back to the pool when they are written. */
  take(): Chunk[] {
    const chunks = this.#full ?? [];
    if (this.#length > 0) chunks.push({ buffer: this.#current, bytes: this.#current.subarray(0, this.#length) });
    this.#forget();
    return chunks;
  }

  /** Drops everything. */
  clear(): void {
    if (this.#current.length > 0) this.#pool.give(this.#current);
    for (const { buffer } of this.#full ?? []) this.#pool.give(buffer);
    this.#forget();
  }

  #forget(): void {
    this.#current = NO_BYTES;
    this.#length = 0;
    this.#full = undefined;
    this.#fullBytes = 0;
  }

  #grow(head: Uint8Array, tail: Uint8Array): true {
    const needed = head.length + tail.length;
    if (this.#length + needed <= LARGE_BUFFER_BYTES) {
      const larger = this.#pool.take(this.#length + needed);
      if (this.#length > 0) larger.set(this.#current.subarray(0, this.#length));
      if (this.#current.length > 0) this.#pool.give(this.#current);
      this.#current = larger;
    } else {
      if (this.#length > 0) {
        this.#full ??= [];
        this.#full.push({ buffer: this.#current, bytes: this.#current.subarray(0, this.#length) });
        this.#fullBytes += this.#length;
      }
      this.#current = this.#pool.take(Math.max(needed, LARGE_BUFFER_BYTES));
      this.#length = 0;
    }
    this.append(head, tail);
    return true;
  }
}

export interface Chunk {
  /** What goes back to the pool. */
  readonly buffer: Uint8Array;
  readonly bytes: Uint8Array;
}
