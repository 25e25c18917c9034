import type { Endpoint } from '../tunnel/tunnel.ts';
import { TRAFFIC_LINGER_MS } from './schedule.ts';

/** Bytes between two looks at the tunnel that are more than a keepalive. */
const TRAFFIC_BYTES = 64;

export interface PeerTraffic {
  readonly publicKey: string;
  readonly receivedBytes: number;
  /** Milliseconds since the epoch; null before the first. */
  readonly handshakeAt: number | null;
  readonly sentBytes: number;
  readonly endpoint: Endpoint | 'relay' | null;
}

/** Tells whether a peer has traffic, so that its direct path is watched closely. */
export class Activity {
  #bytes: number | undefined;
  #until = Number.NEGATIVE_INFINITY;
  #isActive = false;

  /** As of the last `tick`. */
  get isActive(): boolean {
    return this.#isActive;
  }

  get deadline(): number {
    return this.#isActive ? this.#until : Number.POSITIVE_INFINITY;
  }

  /** `bytes`: all that the tunnel received and sent so far. */
  counted(bytes: number, now: number): void {
    if (this.#bytes !== undefined && Math.abs(bytes - this.#bytes) > TRAFFIC_BYTES) this.presume(now);
    this.#bytes = bytes;
  }

  /** As if there had been traffic. */
  presume(now: number): void {
    this.#until = now + TRAFFIC_LINGER_MS;
  }

  tick(now: number): void {
    this.#isActive = now < this.#until;
  }
}
