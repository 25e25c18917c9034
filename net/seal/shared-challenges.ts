import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';

/** Bytes of a nonce that a sender must echo to prove that it runs now. */
const NONCE_BYTES = 16;
/** A nonce is taken in its window and the one beside it: clocks of processes differ, and an echo takes its time. */
const WINDOW_MS = 10_000;

/**
 * Nonces that all processes with one secret give out and take alike: the echo of what one of them asked proves to each that
 * the sender runs now. Nothing is kept of them; that a recorded echo proves nothing again is for the windows of the seal.
 */
export class SharedChallenges {
  readonly #key: Uint8Array;

  /** @param secret that the processes share and nobody else knows */
  constructor(secret: Uint8Array) {
    this.#key = new Uint8Array(hkdfSync('sha256', secret, '', 'mesh/challenges/v1', 32));
  }

  /** The nonce that the sender has to echo. */
  ask(sender: Uint8Array, now: number): Uint8Array {
    return this.#nonce(sender, Math.floor(now / WINDOW_MS));
  }

  answer(sender: Uint8Array, echo: Uint8Array, now: number): boolean {
    if (echo.length !== NONCE_BYTES) return false;
    const present = Math.floor(now / WINDOW_MS);
    return [present, present - 1, present + 1].some((window) => timingSafeEqual(this.#nonce(sender, window), echo));
  }

  #nonce(sender: Uint8Array, window: number): Uint8Array {
    const digest = createHmac('sha256', this.#key).update(sender).update(`${window}`).digest();
    return Uint8Array.from(digest.subarray(0, NONCE_BYTES));
  }
}
