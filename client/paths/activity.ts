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

/** Tells whether a peer has traffic, so that its direct path is watched closely, and since when nothing of it is answered. */
export class Activity {
  #received: number | undefined;
  #sent = 0;
  #unansweredSince: number | undefined;
  #until = Number.NEGATIVE_INFINITY;
  #isActive = false;

  /** As of the last `tick`. */
  get isActive(): boolean {
    return this.#isActive;
  }

  get deadline(): number {
    return this.#isActive ? this.#until : Number.POSITIVE_INFINITY;
  }

  /** When the first packet was sent that nothing followed from the peer; undefined where it answered. */
  get unansweredSince(): number | undefined {
    return this.#unansweredSince;
  }

  /** Takes all bytes that the tunnel received and sent so far. A tunnel that is made anew counts from zero. */
  counted({ receivedBytes, sentBytes }: Pick<PeerTraffic, 'receivedBytes' | 'sentBytes'>, now: number): void {
    const [received, sent] = [receivedBytes - (this.#received ?? receivedBytes), sentBytes - this.#sent];
    if (this.#received !== undefined) {
      if (Math.abs(received + sent) > TRAFFIC_BYTES) this.presume(now);
      if (received !== 0) this.heard();
      else if (sent > TRAFFIC_BYTES) this.asked(now);
    }
    [this.#received, this.#sent] = [receivedBytes, sentBytes];
  }

  /** A packet went to the peer that it answers: WireGuard does within 10 s, also where nothing else does. */
  asked(now: number): void {
    this.#unansweredSince ??= now;
  }

  heard(): void {
    this.#unansweredSince = undefined;
  }

  /** As if there had been traffic. */
  presume(now: number): void {
    this.#until = now + TRAFFIC_LINGER_MS;
  }

  tick(now: number): void {
    this.#isActive = now < this.#until;
  }
}
