import { HEADER_BYTES, peerHighAt, peerLowAt, setPeerAt } from './frame.ts';
import type { RelayCounters } from './metrics.ts';
import type { RelaySession } from './session.ts';

const NO_BYTES = new Uint8Array(0);

/**
 * Passes forward frames on where they lie, with the sender's id in place of the receiver's. Frames to one receiver that lie
 * behind each other in one chunk are one span, which its outbox gets as one piece.
 */
export class Forwarder {
  readonly #counters: RelayCounters;
  readonly #passed: (to: RelaySession) => void;
  /** The receiver of the span under way; the fields below locate the span. */
  #to: RelaySession | undefined;
  #bytes: Uint8Array = NO_BYTES;
  #start = 0;
  #end = 0;

  /** @param passed called with who got a span */
  constructor(counters: RelayCounters, passed: (to: RelaySession) => void) {
    this.#counters = counters;
    this.#passed = passed;
  }

  /** The bytes must stay as they are until `flush`. */
  forward(from: RelaySession, bytes: Uint8Array, view: DataView, start: number, end: number): void {
    const high = peerHighAt(view, start);
    const low = peerLowAt(view, start);
    const last = this.#to;
    const isSame = last !== undefined && last.idLow === low && last.idHigh === high;
    const to = isSame ? last : from.workspace?.find(high, low);
    if (to === undefined) {
      this.#counters.dropped['unknown-peer']++;
      return;
    }
    if (to === from) {
      this.#counters.dropped['to-self']++;
      return;
    }
    const length = end - start;
    const pending = isSame ? this.#end - this.#start : 0;
    if (!to.outbox.hasRoom(pending + length)) {
      this.#counters.dropped['queue-full']++;
      return;
    }
    setPeerAt(view, start, from.idHigh, from.idLow);
    this.#counters.forwardedFrames++;
    this.#counters.forwardedBytes += length - HEADER_BYTES;
    if (isSame && this.#end === start && this.#bytes === bytes) {
      this.#end = end;
      return;
    }
    this.flush();
    this.#to = to;
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
  }

  /** Ends the span under way. */
  flush(): void {
    const to = this.#to;
    if (to === undefined) return;
    to.outbox.copy(this.#bytes, this.#start, this.#end);
    this.#to = undefined;
    this.#bytes = NO_BYTES;
    this.#passed(to);
  }
}
