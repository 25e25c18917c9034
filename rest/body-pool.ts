import { MeshError } from '../core/base/errors.ts';
import { isLoopback } from '../core/base/loopback.ts';
import { sourceSite } from '../core/model/source-network.ts';

export interface PoolLimits {
  /** Bytes of each body that are no part of the pool. */
  readonly free: number;
  readonly total: number;
  readonly perSource: number;
}

/** Bounds the memory of all unfinished bodies together; without it, 10,000 connections could hold 10 GB. */
export const BODY_POOL: PoolLimits = { free: 65_536, total: 67_108_864, perSource: 8_388_608 };

const RETRY_AFTER_SECONDS = 1;

/** The memory of one body. */
export interface BodyShare extends Disposable {
  /** @throws MeshError `rate_limited` where the pool has no room for a body of so many bytes */
  growTo(bytes: number): void;
}

/** Memory that the bodies which are being received have together. */
export class BodyPool {
  readonly #limits: PoolLimits;
  readonly #held = new Map<string, number>();
  #total = 0;

  constructor(limits: PoolLimits) {
    this.#limits = limits;
  }

  get held(): number {
    return this.#total;
  }

  /** @param origin address of the sender; programs on this machine have no limit of their own */
  open(origin: string): BodyShare {
    const { free, total, perSource } = this.#limits;
    const source = sourceSite(origin);
    let own = 0;
    return {
      growTo: (bytes) => {
        const more = Math.max(0, bytes - free) - own;
        if (more <= 0) return;
        const ofSource = (this.#held.get(source) ?? 0) + more;
        if (this.#total + more > total || (ofSource > perSource && !isLoopback(origin))) throw tooMuch();
        this.#held.set(source, ofSource);
        this.#total += more;
        own += more;
      },
      [Symbol.dispose]: () => {
        const left = (this.#held.get(source) ?? 0) - own;
        if (left > 0) this.#held.set(source, left);
        else this.#held.delete(source);
        this.#total -= own;
        own = 0;
      },
    };
  }
}

function tooMuch(): MeshError {
  const why = 'Too many large bodies are on their way: send this one again in a moment.';
  return new MeshError('rate_limited', why, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
