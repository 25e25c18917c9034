import { timingSafeEqual } from 'node:crypto';

/** Bytes of a nonce that a sender must echo to prove that it runs now. */
const NONCE_BYTES = 16;
/** How long an echo is waited for: longer than any bus delay, shorter than a person's attention. */
export const CHALLENGE_LIFE_MS = 10_000;
const MAX_CHALLENGES = 65_536;

/** Nonces given out, one for each sender, each good for one echo. Times are those of this process alone. */
export class Challenges {
  readonly #random: (bytes: number) => Uint8Array;
  readonly #pending = new Map<string, { readonly nonce: Uint8Array; readonly at: number }>();

  constructor(random: (bytes: number) => Uint8Array) {
    this.#random = random;
  }

  /** The nonce the sender has to echo: the one still open, else a fresh one. */
  ask(sender: Uint8Array, now: number): Uint8Array {
    const name = Buffer.from(sender).toString('base64');
    const open = this.#pending.get(name);
    if (open !== undefined && isAlive(open.at, now)) return open.nonce;
    const nonce = Uint8Array.from(this.#random(NONCE_BYTES));
    this.#pending.delete(name);
    this.#pending.set(name, { nonce, at: now });
    if (this.#pending.size > MAX_CHALLENGES) {
      const [oldest] = this.#pending.keys();
      if (oldest !== undefined) this.#pending.delete(oldest);
    }
    return nonce;
  }

  /** True if this is the expected echo; the call uses it up. */
  answer(sender: Uint8Array, echo: Uint8Array, now: number): boolean {
    const name = Buffer.from(sender).toString('base64');
    const open = this.#pending.get(name);
    if (open === undefined || !isAlive(open.at, now)) return false;
    if (echo.length !== NONCE_BYTES || !timingSafeEqual(open.nonce, echo)) return false;
    this.#pending.delete(name);
    return true;
  }
}

/** A clock that jumped backward ends a challenge too, else it could live on without bound. */
function isAlive(at: number, now: number): boolean {
  return now >= at && now - at < CHALLENGE_LIFE_MS;
}
