import { BUFFER_SIZES } from './limits.ts';

/** Buffers in a few sizes, lent for a tick. An idle connection holds none. */
export class BufferPool {
  /** Bytes that wait in buffers of outboxes. */
  queued = 0;
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

export interface Chunk {
  readonly bytes: Uint8Array;
  /** The buffer that goes back to its owner. */
  readonly buffer: Uint8Array;
  readonly owner: { give(buffer: Uint8Array): void };
}
