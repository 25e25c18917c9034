import { createInterface } from 'node:readline';
import { CliError, EXIT } from './exit.ts';

/**
 * Asks a person at the terminal for a yes.
 *
 * @throws CliError where nobody can be asked, and where the person presses Ctrl-C
 */
export async function confirm(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) {
    throw new CliError('Nothing was changed: there is no terminal to ask on. Give --yes to go on.', EXIT.input);
  }
  return (await answerTo(`${question} [y/N] `)) === 'y';
}

function answerTo(question: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise<string>((resolve, reject) => {
    reader.on('SIGINT', () => {
      process.stderr.write('\n');
      reject(new CliError('Canceled: nothing was changed.', EXIT.interrupted));
    });
    reader.on('close', () => resolve('n'));
    reader.question(question, (answer) => resolve(answer.trim().toLowerCase().slice(0, 1)));
  }).finally(() => reader.close());
}
