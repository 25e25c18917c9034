import type { Verb } from '../core/intent/orders/order.ts';

/** The command of each order. */
export const COMMAND_OF: Readonly<Record<Verb, string>> = {
  allow: 'allow',
  deny: 'deny',
  only: 'only',
  remove: 'remove-access',
};

/** Options of these commands that are not called as the field of an order. */
export const OPTION_OF: Readonly<Record<string, string>> = { ports: '--port' };

const NAME_OF: Readonly<Record<string, string>> = {
  ...{ from: '<from-peer>', to: '<to-peer>', except_from: '--except-from', except_to: '--except-to' },
  ...{
    ports: '--port',
    side: '--side',
    both_ways: '--both-ways',
    starts: '--starts',
    for: '--for',
    until: '--until',
    through: '--through',
  },
};
const POINTER = /\/orders\/0\/([a-z_]+)(?:\/\d+)?: /g;
const THROUGH = '"through": ';

/** Returns why an order was refused, with the options of its command in place of the fields of the order. */
export function inOptions(text: string): string {
  return throughOption(text)
    .replaceAll(POINTER, (whole, field: string) => (NAME_OF[field] === undefined ? whole : `${NAME_OF[field]}: `))
    .replaceAll(/\/orders(?:\/0)?: /g, '')
    .replaceAll(/\bfor (and|or) until\b/g, '--for $1 --until')
    .replaceAll('eave out starts', 'eave out --starts')
    .replaceAll('for counts', '--for counts')
    .replaceAll('deny with starts', 'mesh deny with --starts')
    .replaceAll(/\bexcept_from\b/g, '--except-from')
    .replaceAll(/\bexcept_to\b/g, '--except-to');
}

/** `"through": ["no-lab"]` as `--through no-lab`. */
function throughOption(text: string): string {
  const [start, begin] = [text.indexOf(THROUGH), text.indexOf(THROUGH) + THROUGH.length];
  const end = text.indexOf(']', begin) + 1;
  if (start < 0 || end === 0) return text;
  const options = namesIn(text.slice(begin, end)).map((name) => `--through ${name}`);
  return text.slice(0, start) + options.join(' ') + text.slice(end);
}

function namesIn(json: string): string[] {
  return json
    .slice(1, -1)
    .split(',')
    .map((name) => name.trim().replaceAll('"', ''));
}

/** Returns the words of an argument or option: apart by spaces, or by commas where no label joins its parts with them. */
export function wordsOf(text: string): string[] {
  return text
    .split(/\s+/)
    .flatMap((word) => (word.includes('=') ? [word] : word.split(',')))
    .filter((word) => word !== '');
}
