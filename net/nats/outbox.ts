import type { BufferPool, Chunk } from './buffer-pool.ts';
import { BUFFER_SIZES } from './limits.ts';
import type { SharedBuffer } from './shared-buffer.ts';

const LARGEST = BUFFER_SIZES[BUFFER_SIZES.length - 1]?.bytes ?? 0;
const NO_BYTES = new Uint8Array(0);

/** Bytes on the way to one receiver, in order: in its own buffers, or all of them in a shared buffer. */
export class Outbox {
  readonly #pool: BufferPool;
  #current: Uint8Array = NO_BYTES;
  #length = 0;
  /** Filled buffers before the current one. */
  #full: Chunk[] | undefined;
  #fullBytes = 0;
  #shared: SharedBuffer | undefined;
  readonly #run = { head: NO_BYTES as Uint8Array, from: 0, to: 0 };

  constructor(pool: BufferPool) {
    this.#pool = pool;
  }

  get bytes(): number {
    return this.#fullBytes + this.#length + (this.#shared?.size(this.#run) ?? 0);
  }

  /** Appends two runs of bytes. Returns true when a new buffer was needed: time to look at limits. */
  append(head: Uint8Array, tail: Uint8Array): boolean {
    if (this.#shared !== undefined) this.#leave(this.#shared);
    const at = this.#length;
    const middle = at + head.length;
    const end = middle + tail.length;
    if (end > this.#current.length) return this.#grow(head, tail);
    this.#current.set(head, at);
    this.#current.set(tail, middle);
    this.#length = end;
    this.#pool.queued += end - at;
    return false;
  }

  /** Appends the last frame of a shared buffer: by a note when nothing else waits. Returns what `append` does. */
  note(shared: SharedBuffer, head: Uint8Array): boolean {
    const frame = shared.frames - 1;
    const run = this.#run;
    if (this.#shared === shared && run.to === frame && run.head === head) {
      run.to++;
      return false;
    }
    if (this.bytes > 0) return this.append(head, shared.tail(frame));
    shared.hold();
    this.#shared = shared;
    run.head = head;
    run.from = frame;
    run.to = frame + 1;
    return false;
  }

  /** The oldest bytes, which the caller gives back when they are written; undefined when empty. */
  take(): Chunk | undefined {
    const shared = this.#shared;
    if (shared !== undefined) {
      this.#shared = undefined;
      shared.release();
      return shared.chunk(this.#run);
    }
    const first = this.#full?.shift();
    if (first !== undefined) {
      this.#fullBytes -= first.bytes.length;
      this.#pool.queued -= first.bytes.length;
      return first;
    }
    if (this.#length === 0) return undefined;
    const chunk = this.#chunk();
    this.#pool.queued -= this.#length;
    this.#current = NO_BYTES;
    this.#length = 0;
    return chunk;
  }

  /** Drops everything. */
  clear(): void {
    this.#shared?.release();
    this.#shared = undefined;
    for (let chunk = this.take(); chunk !== undefined; chunk = this.take()) chunk.owner.give(chunk.buffer);
    this.#full = undefined;
  }

  #chunk(): Chunk {
    return { buffer: this.#current, bytes: this.#current.subarray(0, this.#length), owner: this.#pool };
  }

  /** Leaves the shared buffer, which the next frame is not in: from here on all frames are in buffers of the outbox. */
  #leave(shared: SharedBuffer): void {
    const { head, from, to } = this.#run;
    this.#shared = undefined;
    for (let frame = from; frame < to; frame++) this.append(head, shared.tail(frame));
    shared.release();
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
        this.#full.push(this.#chunk());
        this.#fullBytes += this.#length;
      }
      this.#current = this.#pool.take(Math.max(needed, LARGEST));
      this.#length = 0;
    }
    this.append(head, tail);
    return true;
  }
}
