import { SYN_WAITS_MS, waitOf } from './schedule.ts';

/** Tells whether a living process of the peer takes our signals and we take its; SYN asks it until it has answered. */
export class ProofOfLife {
  #isProven = false;
  /** Since something last spoke for an answer. */
  #syns = 0;
  #synAt: number | undefined;
  /** How often it proved itself and then said nothing of an OFFER. */
  #detours = 0;

  get isProven(): boolean {
    return this.#isProven;
  }

  get unansweredSyns(): number {
    return this.#syns;
  }

  get deadline(): number {
    return this.#synAt ?? Number.POSITIVE_INFINITY;
  }

  /** Something speaks for an answer: the waits are short again. */
  startOver(): void {
    this.#syns = 0;
  }

  ask(at: number): void {
    this.#synAt = at;
  }

  /** The bus is away. */
  pause(): void {
    this.#synAt = undefined;
  }

  proven(): void {
    this.#isProven = true;
    this.#syns = 0;
    this.#synAt = undefined;
  }

  /** It took part in an exchange of credentials. */
  negotiated(): void {
    this.#detours = 0;
  }

  /** The process that we knew may be gone: it has to prove itself again, ever later if that leads nowhere. */
  doubt(now: number, fraction: number): void {
    this.#isProven = false;
    this.#syns = 0;
    this.#synAt = now + waitOf(SYN_WAITS_MS, this.#detours, fraction);
    this.#detours += 1;
  }

  /** It said that it leaves. It will say when it is back; asking is only for the case that this is missed. */
  left(now: number, fraction: number): void {
    this.#isProven = false;
    this.#syns = SYN_WAITS_MS.length;
    this.#synAt = now + waitOf(SYN_WAITS_MS, this.#syns, fraction);
  }

  /** A SYN was sent. */
  asked(now: number, fraction: number): void {
    this.#synAt = now + waitOf(SYN_WAITS_MS, this.#syns, fraction);
    this.#syns += 1;
  }
}
