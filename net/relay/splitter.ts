import { FRAME_VERSION, HEADER_BYTES, payloadLengthAt, versionAt, viewOf } from './frame.ts';
import { SlabPool } from './slab-pool.ts';

export type SplitRefusal = 'bad-version' | 'too-large';

/**
 * Sees one whole frame, header at `start`. The bytes are the chunk itself or, for a frame that came in pieces, a buffer that
 * is used again once the chunk is split: what must outlive that is copied. Returning false ends the splitting of this chunk.
 */
export type FrameVisitor = (bytes: Uint8Array, view: DataView, start: number, end: number) => boolean;

/** A frame in pieces that is larger lies in a slab of the pool until it is whole. */
const KEPT_CARRY_BYTES = 4_096;

/** Cuts a byte stream into frames. Holds at most one incomplete frame of at most `maxPayload` bytes. */
export class FrameSplitter {
  /** Raised once the other side has proven itself. */
  maxPayload: number;
  readonly #pool: SlabPool;
  #carry = new Uint8Array(0);
  #carryView = new DataView(this.#carry.buffer);
  #held = 0;

  /** @param pool what it shares with others */
  constructor(maxPayload: number, pool = new SlabPool()) {
    this.maxPayload = maxPayload;
    this.#pool = pool;
  }

  push(chunk: Uint8Array, visit: FrameVisitor): SplitRefusal | undefined {
    let at = 0;
    let seen: Uint8Array<ArrayBuffer> | undefined;
    if (this.#held > 0) {
      at = this.#fill(chunk, 0, HEADER_BYTES);
      if (this.#held < HEADER_BYTES) return undefined;
      const refusal = this.#refusalOf(this.#carryView, 0);
      if (refusal !== undefined) return refusal;
      const total = HEADER_BYTES + payloadLengthAt(this.#carryView, 0);
      at = this.#fill(chunk, at, total);
      if (this.#held < total) return undefined;
      this.#held = 0;
      if (!visit(this.#carry, this.#carryView, 0, total)) return undefined;
      // The start of another frame may follow: it must not lie where the visitor still looks.
      seen = this.#carry;
      this.#use(new Uint8Array(0));
    }
    const view = viewOf(chunk);
    while (chunk.length - at >= HEADER_BYTES) {
      const refusal = this.#refusalOf(view, at);
      if (refusal !== undefined) return refusal;
      const end = at + HEADER_BYTES + payloadLengthAt(view, at);
      if (end > chunk.length) break;
      if (!visit(chunk, view, at, end)) return undefined;
      at = end;
    }
    if (at < chunk.length) this.#hold(chunk, view, at);
    if (seen) this.#reuse(seen);
    return undefined;
  }

  #refusalOf(view: DataView, at: number): SplitRefusal | undefined {
    if (versionAt(view, at) !== FRAME_VERSION) return 'bad-version';
    return payloadLengthAt(view, at) > this.maxPayload ? 'too-large' : undefined;
  }

  /** Keeps the start of a frame whose rest is still to come. */
  #hold(chunk: Uint8Array, view: DataView, at: number): void {
    const rest = chunk.length - at;
    const isKnown = rest >= HEADER_BYTES;
    this.#fill(chunk, at, isKnown ? HEADER_BYTES + payloadLengthAt(view, at) : HEADER_BYTES);
  }

  /** Takes from the chunk until `total` bytes are held. @returns where in the chunk it stopped */
  #fill(chunk: Uint8Array, from: number, total: number): number {
    if (this.#carry.length < total) this.#enlarge(total);
    const to = Math.min(chunk.length, from + Math.max(0, total - this.#held));
    this.#carry.set(chunk.subarray(from, to), this.#held);
    this.#held += to - from;
    return to;
  }

  #enlarge(bytes: number): void {
    const larger = bytes > KEPT_CARRY_BYTES ? this.#pool.take() : new Uint8Array(bytes);
    larger.set(this.#carry.subarray(0, this.#held));
    this.#use(larger);
  }

  #reuse(carry: Uint8Array<ArrayBuffer>): void {
    if (carry.length > KEPT_CARRY_BYTES) this.#pool.give(carry);
    else if (this.#held === 0) this.#use(carry);
  }

  #use(carry: Uint8Array<ArrayBuffer>): void {
    this.#carry = carry;
    this.#carryView = new DataView(carry.buffer);
  }
}
