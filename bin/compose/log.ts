import pino from 'pino';
import type { Log } from '../../core/base/ports.ts';
import { tokenPattern } from '../../core/model/token.ts';
import type { LogOutput } from './log-output.ts';

/** So much of a token that was cut leaves the rest to be guessed. */
const TOKENS = tokenPattern(32);
const CENSOR = '[secret]';

/** The one logger. Everything goes to fd 2: on stdio, stdout belongs to the protocol. */
export function buildLog(level: string, output: LogOutput): Log {
  const redact = {
    paths: ['token', 'password', 'authorization', '*.token', '*.password', '*.authorization'],
    censor: CENSOR,
  };
  // Wherever one stands: in a path that was asked for, in a message, in a stack.
  const hooks = { streamWrite: (line: string) => line.replaceAll(TOKENS, CENSOR) };
  return pino({ level, base: null, redact, hooks, timestamp: pino.stdTimeFunctions.isoTime }, output);
}
