/**
 * First words of the commands, and of the options, that remove, revoke or leave something, or do without a question. No
 * suggestion names one: who misspells a harmless word must not be led to it. A test holds them against the operations that
 * take something away.
 */
const WORDS: ReadonlySet<string> = new Set([
  'cancel',
  'delete',
  'disable',
  'down',
  'end',
  'force',
  'leave',
  'logout',
  'prune',
  'reject',
  'remove',
  'reset',
  'restore',
  'revoke',
  'yes',
]);
/** Destructive names whose first word does not show it. */
const NAMES: ReadonlySet<string> = new Set(['accept-loss', 'log-out', 'log-out-everywhere']);

/** Tells whether a command or an option takes access or data away, by its name. */
export function isDestructive(name: string): boolean {
  const bare = name.replace(/^--/, '');
  return NAMES.has(bare) || WORDS.has(bare.split('-', 1)[0] ?? '');
}

const BEGIN = '\n(Did you mean ';
const END = '?)';

/** Returns what commander says of a wrong word, with the names alone that it may suggest. */
export function withoutDestructive(message: string): string {
  const { head, tail, names } = parted(message);
  return `${head}${names.length === 0 ? '' : `${BEGIN}${names.join(' or ')}${END}`}${tail}`;
}

/** Splits what commander says of a wrong word into its sentence and the names that it may suggest. */
export function suggestionIn(message: string): { readonly sentence: string; readonly names: readonly string[] } {
  const { head, tail, names } = parted(message);
  return { sentence: `${head}${tail}`, names };
}

function parted(message: string) {
  const at = message.indexOf(BEGIN);
  const end = message.indexOf(END, at);
  if (at < 0 || end < 0) return { head: message, tail: '', names: [] };
  const listed = message.slice(at + BEGIN.length, end).replace('one of ', '');
  return {
    head: message.slice(0, at),
    tail: message.slice(end + END.length),
    names: listed.split(', ').filter((name) => !isDestructive(name)),
  };
}
