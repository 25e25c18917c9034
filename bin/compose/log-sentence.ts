import { visibleLine } from '../../core/base/visible-line.ts';

const WARNING = 40;
const ERROR = 50;

/**
 * Returns a line of the log as a sentence for a person at the terminal: its message, then its fields. Stacks are below it.
 *
 * @param line JSON, as every other reader gets it; anything else stays as it is
 */
export function logSentence(line: string): string {
  let entry: unknown;
  try {
    entry = JSON.parse(line);
  } catch {
    return line;
  }
  if (typeof entry !== 'object' || entry === null) return line;
  const { level, time: _, msg, ...fields } = entry as Readonly<Record<string, unknown>>;
  const prefix = Number(level) >= ERROR ? 'Error: ' : Number(level) >= WARNING ? 'Warning: ' : '';
  const details = Object.entries(fields).map(([name, value]) => `${name} ${textOf(value)}`);
  const stacks = Object.values(fields).flatMap((value) => stackOf(value));
  const text = [msg, details.join(', ')].filter((part) => typeof part === 'string' && part !== '').join(': ');
  const sentence = prefix === '' ? text.replace(/^[a-z]/, (first) => first.toUpperCase()) : `${prefix}${text}`;
  const lines = [/[.?!]$/.test(sentence) ? sentence : `${sentence}.`, ...stacks.map((one) => `    ${one.trim()}`)];
  return `${lines.map(visibleLine).join('\n')}\n`;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { message } = (value ?? {}) as { readonly message?: unknown };
  return typeof message === 'string' ? message : (JSON.stringify(value) ?? '');
}

/** Returns the calls that led to an error; its message stands in the sentence. */
function stackOf(value: unknown): readonly string[] {
  const { stack } = (value ?? {}) as { readonly stack?: unknown };
  return typeof stack === 'string' ? stack.split('\n').filter((line) => line.trim().startsWith('at ')) : [];
}
