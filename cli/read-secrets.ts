import { createInterface } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { CliError, EXIT } from './exit.ts';

/** The characters that a terminal in raw mode sends for keys that edit or end a line. */
const KEY = { cancel: '\u0003', end: '\u0004', backspace: '\b', erase: '\u007f', kill: '\u0015' } as const;
/** Matches the sequences of keys without a character (ECMA-48, 5.4), and the marks around pasted text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what terminals send
const SEQUENCE = /\u001b(?:\[[\d;?]*[ -/]*[@-~]|O[@-~]|.)?/gu;

/** Asks one question after the other for what is not to be seen. */
export interface SecretReader extends Disposable {
  /** True if a person can be asked again. */
  readonly isTerminal: boolean;
  /** The next line; undefined where standard input has no more. @throws CliError when the person cancels */
  ask(question: string): Promise<string | undefined>;
}

export function readSecrets(): SecretReader {
  return process.stdin.isTTY ? new TerminalSecrets(process.stdin) : new PipedSecrets();
}

/** Without echo. What is typed or pasted ahead answers the next question. */
class TerminalSecrets implements SecretReader {
  readonly isTerminal = true;
  readonly #terminal: ReadStream;
  readonly #lines: string[] = [];
  #line: string[] = [];
  #isAfterReturn = false;
  #waiting: PromiseWithResolvers<string> | undefined;
  #cancelled: number | undefined;

  constructor(terminal: ReadStream) {
    this.#terminal = terminal;
    // Before the first question: what is typed after it is never echoed.
    terminal.setRawMode(true);
    terminal.setEncoding('utf8').on('data', this.#take).on('end', this.#end).on('error', this.#end);
  }

  ask(question: string): Promise<string> {
    process.stderr.write(question);
    this.#waiting = Promise.withResolvers<string>();
    const { promise } = this.#waiting;
    this.#answer();
    return promise;
  }

  [Symbol.dispose](): void {
    this.#terminal.off('data', this.#take).off('end', this.#end).off('error', this.#end);
    this.#terminal.setRawMode(false);
    this.#terminal.pause();
  }

  readonly #take = (text: string): void => {
    for (const character of text.replaceAll(SEQUENCE, '')) {
      if (this.#cancelled !== undefined) return;
      const isEndOfReturn = this.#isAfterReturn && character === '\n';
      this.#isAfterReturn = character === '\r';
      if (isEndOfReturn) continue;
      if (character === '\r' || character === '\n') {
        this.#lines.push(this.#line.join(''));
        this.#line = [];
      } else if (character === KEY.cancel) this.#cancel(EXIT.interrupted);
      else if (character === KEY.end) this.#end();
      else if (character === KEY.kill) this.#line = [];
      else if (character === KEY.backspace || character === KEY.erase) this.#line.pop();
      else this.#line.push(character);
    }
    this.#answer();
  };

  readonly #end = (): void => this.#cancel(EXIT.input);

  #cancel(exitCode: number): void {
    this.#cancelled ??= exitCode;
    this.#answer();
  }

  #answer(): void {
    const waiting = this.#waiting;
    if (!waiting || (this.#lines.length === 0 && this.#cancelled === undefined)) return;
    this.#waiting = undefined;
    process.stderr.write('\n');
    const line = this.#lines.shift();
    if (line === undefined) waiting.reject(new CliError('Canceled: nothing was sent.', this.#cancelled ?? EXIT.input));
    else waiting.resolve(line);
  }
}

class PipedSecrets implements SecretReader {
  readonly isTerminal = false;
  readonly #reader = createInterface({ input: process.stdin });
  readonly #lines = this.#reader[Symbol.asyncIterator]();

  async ask(): Promise<string | undefined> {
    const { value, done } = await this.#lines.next();
    return done ? undefined : value;
  }

  [Symbol.dispose](): void {
    this.#reader.close();
    process.stdin.destroy();
  }
}
