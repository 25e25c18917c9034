import { rmSync } from 'node:fs';
import path from 'node:path';
import { readRegular } from '../if-readable.ts';
import { replacePrivateFile } from './private-file.ts';

/** A file of a node's state that only its owner can read; without a directory its text is in memory alone. */
export class StateFile {
  /** Its path. */
  readonly name: string;
  readonly #isOnDisk: boolean;
  #text: string | undefined;

  constructor(directory: string | undefined, name: string) {
    this.name = path.join(directory ?? '', name);
    this.#isOnDisk = directory !== undefined;
  }

  /** @throws Error with the system's code, ENOENT where there is none */
  read(): string {
    if (this.#isOnDisk) return readRegular(this.name);
    if (this.#text === undefined) throw Object.assign(new Error('There is none.'), { code: 'ENOENT' });
    return this.#text;
  }

  /** @throws StateNotWritten */
  replace(text: string): void {
    if (this.#isOnDisk) replacePrivateFile(this.name, text);
    else this.#text = text;
  }

  remove(): void {
    if (this.#isOnDisk) rmSync(this.name, { force: true });
    this.#text = undefined;
  }
}
