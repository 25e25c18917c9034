import { HEADER_BYTES, MAX_PAYLOAD_BYTES } from './frame.ts';

/** Any frame fits, and a flush seldom gathers more for one receiver. */
export const SLAB_BYTES = HEADER_BYTES + MAX_PAYLOAD_BYTES;
/** Slabs kept for reuse: 8 MiB. */
const MAX_IDLE_SLABS = 128;

/** Slabs that are not in use, shared by all sessions of a relay: new ones would keep the garbage collector busy. */
export class SlabPool {
  readonly #idle: Uint8Array<ArrayBuffer>[] = [];

  take(): Uint8Array<ArrayBuffer> {
    return this.#idle.pop() ?? new Uint8Array(SLAB_BYTES);
  }

  give(slab: Uint8Array<ArrayBuffer>): void {
    if (this.#idle.length < MAX_IDLE_SLABS) this.#idle.push(slab);
  }
}
