import { BUFFER_SIZES } from './limits.ts';

const LARGEST = BUFFER_SIZES[BUFFER_SIZES.length - 1]?.bytes ?? 0;

/** Buffers in a few sizes, lent for a tick. An idle connection holds none. */
export class BufferPool {
  readonly #free = BUFFER_SIZES.map((size) => ({ ...size, buffers: [] as Uint8Array[] }));

  /** A buffer of at least that many bytes, with anything in it. */
  take(bytes: number): Uint8Array {
    for (const { bytes: size, buffers } of this.#free) if (bytes <= size) return buffers.pop() ?? uninitialised(size);
    return uninitialised(bytes);
  }

  /** Takes back a buffer that nobody reads any more; one of another size is left to the garbage collector. */
  give(buffer: Uint8Array): void {
    for (const { bytes, kept, buffers } of this.#free) {
      if (buffer.length === bytes && buffers.length < kept) buffers.push(buffer);
    }
  }
}

/** Not zeroed: only what was written is ever sent. */
function uninitialised(bytes: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer);
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

  /** The oldest buffer, which the caller gives back to the pool when it is written; undefined when empty. */
  take(): Chunk | undefined {
    const first = this.#full?.shift();
    if (first !== undefined) {
      this.#fullBytes -= first.bytes.length;
      return first;
    }
    if (this.#length === 0) return undefined;
    const chunk = { buffer: this.#current, bytes: this.#current.subarray(0, this.#length) };
    this.#current = NO_BYTES;
    this.#length = 0;
    return chunk;
  }

  /** Drops everything. */
  clear(): void {
    if (this.#current.length > 0) this.#pool.give(this.#current);
    for (const { buffer } of this.#full ?? []) this.#pool.give(buffer);
    this.#current = NO_BYTES;
    this.#length = 0;
    this.#full = undefined;
    this.#fullBytes = 0;
  }

  #grow(head: Uint8Array, tail: Uint8Array): true {
    const needed = head.length + tail.length;
    if (this.#length + needed <= LARGEST) {
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
      this.#current = this.#pool.take(Math.max(needed, LARGEST));
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
