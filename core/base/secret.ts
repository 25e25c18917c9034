import { createHash, timingSafeEqual } from 'node:crypto';

const inspect = Symbol.for('nodejs.util.inspect.custom');

/** A value that no log, JSON or inspection shows. `reveal()` is the one way to read it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect](): string {
    return '[secret]';
  }
}

/** Equal in constant time, whatever the lengths. */
export function equalSecrets(a: string, b: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
