import type { Socket } from 'node:net';
import { HEADER_BYTES, viewOf } from '../../net/relay/frame.ts';
import { writeForward } from '../../net/relay/message.ts';

/** Largest write: all frames of a turn of the event loop, up to WireGuard's largest burst. */
const SLAB_BYTES = 131_072;
/** Slabs kept for reuse; more are only needed while the relay reads slowly. */
const KEPT_SLABS = 8;
/** Most bytes that wait in this process. More would only delay packets that WireGuard and TCP send again: 0.2 s at 10 Mbit/s. */
export const QUEUE_BYTES = 262_144;

interface Slab {
  readonly bytes: Buffer;
  readonly view: DataView;
}

/** Gathers frames and writes them once a turn of the event loop. Drops when the socket does not keep up. */
export class Outbox {
  readonly #socket: Socket;
  readonly #free: Slab[] = [];
  #slab: Slab | undefined;
  #used = 0;
  #isScheduled = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Packets, coalesced ones by their segment. False when they were dropped because too much is waiting. */
  forward(peer: bigint, packets: Uint8Array, segment: number): boolean {
    if (this.#socket.writableLength + this.#used > QUEUE_BYTES) return false;
    const room = HEADER_BYTES + packets.length;
    if (this.#used + room > SLAB_BYTES) this.flush();
    this.#slab ??= this.#free.pop() ?? newSlab();
    this.#used = writeForward(this.#slab.bytes, this.#slab.view, this.#used, peer, packets, segment);
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(() => {
        this.#isScheduled = false;
        this.flush();
      });
    }
    return true;
  }

  /** Any other frame, in order with the packets before it. */
  send(frame: Uint8Array): void {
    this.flush();
    if (this.#socket.writable) this.#socket.write(frame);
  }

  flush(): void {
    const slab = this.#slab;
    if (slab === undefined) return;
    this.#slab = undefined;
    const bytes = slab.bytes.subarray(0, this.#used);
    this.#used = 0;
    if (!this.#socket.writable) return;
    this.#socket.write(bytes, () => this.#keep(slab));
  }

  #keep(slab: Slab): void {
    if (this.#free.length < KEPT_SLABS) this.#free.push(slab);
  }
}

function newSlab(): Slab {
  const bytes = Buffer.allocUnsafeSlow(SLAB_BYTES);
  return { bytes, view: viewOf(bytes) };
}
