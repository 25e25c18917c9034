import { closeSync, existsSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Log } from '../../core/base/ports.ts';
import { formatInstant } from '../../core/base/time.ts';
import { visibleLine } from '../../core/base/visible-line.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type NodeLogLevel = (typeof LEVELS)[number];
export const NODE_LOG_LEVELS: readonly NodeLogLevel[] = LEVELS;

/** Longest line; texts of others may be of any length. */
const MOST_CHARACTERS = 8_192;

/** Lines for people: time, level, message, and the fields behind it, whatever others wrote into these. */
export function buildNodeLog(level: NodeLogLevel, write: (line: string) => void): Log {
  const at = (of: NodeLogLevel) => (fields: object, message: string) => {
    if (LEVELS.indexOf(of) < LEVELS.indexOf(level)) return;
    const rest = Object.entries(fields).map(([key, value]) => ` ${key}=${textOf(value)}`);
    const said = `${message}${rest.join('')}`;
    const left = said.length - MOST_CHARACTERS;
    const shown = left > 0 ? `${said.slice(0, MOST_CHARACTERS)} (${left} characters are left out)` : said;
    write(`${formatInstant(Date.now())} ${of.padEnd(5)} ${visibleLine(shown)}\n`);
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

function textOf(field: unknown): string {
  // JSON knows no message of an error.
  const value = field instanceof Error ? String(field) : field;
  return typeof value === 'string' && /^[\w.:/@+-]+$/.test(value) ? value : JSON.stringify(value);
}

const MAX_LOG_BYTES = 10 * 1_048_576;

/**
 * Appends to a file; at 10 MiB the file before is kept beside it and a new one begins. A line that a full disk does not take
 * is lost: no tunnel ends for it.
 */
export function logFileWriter(name: string): (line: string) => void {
  let file = openSync(name, 'a', 0o640);
  let size = fstatSync(file).size;
  const append = (line: string) => {
    if (size + line.length > MAX_LOG_BYTES) {
      if (existsSync(name)) renameSync(name, `${name}.1`);
      const next = openSync(name, 'a', 0o640);
      closeSync(file);
      file = next;
      size = 0;
    }
    size += writeSync(file, line);
  };
  return (line) => {
    try {
      append(line);
    } catch {
      // The next line is tried again.
    }
  };
}
