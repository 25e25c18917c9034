import { createInterface } from 'node:readline';
import type { ReadStream } from 'node:tty';
import { CliError, EXIT } from './exit.ts';

/** What a terminal in raw mode sends for keys that edit or end a line. */
const KEY = { cancel: '\u0003', end: '\u0004', backspace: '\b', erase: '\u007f', kill: '\u0015' } as const;

/**
 * One line for each question: without echo on a terminal, else of standard input, where fewer come when it ends early.
 *
 * @throws CliError when the person at the terminal cancels
 */
export function readSecrets(questions: readonly string[]): Promise<string[]> {
  return process.stdin.isTTY ? typed(questions, process.stdin) : piped(questions.length);
}

/** One reader for all questions, so that what is typed ahead answers the next one. */
function typed(questions: readonly string[], terminal: ReadStream): Promise<string[]> {
  const { promise, resolve, reject } = Promise.withResolvers<string[]>();
  const answers: string[] = [];
  let line: string[] = [];
  const ask = () => process.stderr.write(questions[answers.length] ?? '');
  const cancel = () => reject(new CliError('Cancelled: nothing was sent.', EXIT.input));
  const enter = () => {
    answers.push(line.join(''));
    line = [];
    process.stderr.write('\n');
    if (answers.length === questions.length) resolve(answers);
    else ask();
  };
  const take = (text: string) => {
    for (const character of text) {
      if (answers.length === questions.length) return;
      if (character === '\r' || character === '\n') enter();
      else if (character === KEY.cancel || character === KEY.end) {
        process.stderr.write('\n');
        return cancel();
      } else if (character === KEY.kill) line = [];
      else if (character === KEY.backspace || character === KEY.erase) line.pop();
      else line.push(character);
    }
  };
  // Before the question: what is typed after it is never echoed.
  terminal.setRawMode(true);
  ask();
  terminal.setEncoding('utf8').on('data', take).on('end', cancel).on('error', cancel);
  return promise.finally(() => {
    terminal.off('data', take).off('end', cancel).off('error', cancel);
    terminal.setRawMode(false);
    terminal.pause();
  });
}

async function piped(count: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: process.stdin })) {
    lines.push(line);
    if (lines.length === count) break;
  }
  return lines;
}
