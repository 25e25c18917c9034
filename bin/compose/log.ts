import pino from 'pino';
import type { Log } from '../../core/base/ports.ts';
import type { LogOutput } from './log-output.ts';

/** The one logger. Everything goes to fd 2: on stdio, stdout belongs to the protocol. */
export function buildLog(level: string, output: LogOutput): Log {
  const redact = {
    paths: ['token', 'password', 'authorization', '*.token', '*.password', '*.authorization'],
    censor: '[secret]',
  };
  return pino({ level, base: null, redact, timestamp: pino.stdTimeFunctions.isoTime }, output);
}
