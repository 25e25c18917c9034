import { expect, test } from 'vitest';
import { buildLog } from './log.ts';
import { logOutput } from './log-output.ts';
import { logSentence } from './log-sentence.ts';

/** The log as a person at the terminal sees it. */
function terminal() {
  let shown = '';
  const output = logOutput(
    2,
    (_fd, bytes) => {
      shown += Buffer.from(bytes).toString();
      return bytes.length;
    },
    logSentence,
  );
  return { log: buildLog('info', output), lines: () => shown.trimEnd().split('\n') };
}

test('a person at the terminal reads the log as sentences, with fields and without JSON', () => {
  const { log, lines } = terminal();
  log.info({ port: 18090, names: ['a'] }, 'listening');
  log.warn({}, 'the disk is nearly full');
  log.error({ err: new Error('no route') }, 'cannot reach the bus');
  const [info, warning, error, ...stack] = lines();
  expect([info, warning, error]).toEqual([
    'Listening: port 18090, names ["a"].',
    'Warning: the disk is nearly full.',
    'Error: cannot reach the bus: err no route.',
  ]);
  expect(stack.length).toBeGreaterThan(0);
  expect(stack.every((line) => line.startsWith('    at '))).toBe(true);
});

test('what others wrote into a field does not act on the terminal, and ends no line', () => {
  const { log, lines } = terminal();
  log.info({ name: 'a\nError: all is lost\u001b[2J\u202e' }, 'joined');
  expect(lines()).toEqual(['Joined: name a\uFFFDError: all is lost\uFFFD[2J\uFFFD.']);
});
