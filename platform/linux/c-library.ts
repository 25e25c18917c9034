import { getSystemErrorName } from 'node:util';
import type { Koffi } from './libc.ts';

/** A system call failed. */
export class SystemCallError extends Error {
  override readonly name = 'SystemCallError';
  /** As Node names it: `EPERM`. */
  readonly code: string;

  constructor(call: string, code: string) {
    super(`${call}: ${code}`);
    this.code = code;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the arguments of C functions have no types of TypeScript
export type CFunction = (...values: any[]) => number;

/** Functions of the C library that throw where they fail. */
export class CLibrary {
  readonly #koffi: Koffi;
  readonly #library: ReturnType<Koffi['load']>;

  constructor(koffi: Koffi) {
    this.#koffi = koffi;
    this.#library = koffi.load(null);
  }

  /** @param prototype as C declares it, with its answer `int` or `long`, which is negative on failure */
  take(prototype: string, what?: string): CFunction {
    const call: CFunction = this.#library.func(prototype);
    const name = what ?? prototype.split('(')[0]?.split(/[ *]/).at(-1) ?? prototype;
    return (...values) => {
      const result = Number(call(...values));
      if (result >= 0) return result;
      throw new SystemCallError(name, getSystemErrorName(-this.#koffi.errno()));
    };
  }

  /** Without an exception, for calls that fail often. @returns -1 on failure */
  takeQuiet(prototype: string): CFunction {
    return this.#library.func(prototype);
  }

  /** A call that not every C library has a function for. @param types of its arguments, as C writes them */
  takeCall(number: number, name: string, types: readonly string[]): CFunction {
    const call = this.take(`long syscall(${['long number', ...types].join(', ')})`, name);
    return (...values) => call(number, ...values);
  }
}
