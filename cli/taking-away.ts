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
/** Those that the first word does not tell. */
const NAMES: ReadonlySet<string> = new Set(['accept-loss', 'log-out']);

/** Tells whether a command or an option takes access or data away, by its name. */
export function takesAway(name: string): boolean {
  const bare = name.replace(/^--/, '');
  return NAMES.has(bare) || WORDS.has(bare.split('-', 1)[0] ?? '');
}

const SUGGESTION = /\n\(Did you mean (?:one of )?([^?]*)\?\)/;

/** Returns what commander says of a wrong word, with the names alone that it may suggest. */
export function harmless(message: string): string {
  const { names } = suggestionIn(message);
  return message.replace(SUGGESTION, names.length === 0 ? '' : `\n(Did you mean ${names.join(' or ')}?)`);
}

/** Splits what commander says of a wrong word into its sentence and the names that it may suggest. */
export function suggestionIn(message: string): { readonly sentence: string; readonly names: readonly string[] } {
  const [, names] = SUGGESTION.exec(message) ?? [];
  return {
    sentence: message.replace(SUGGESTION, ''),
    names: names?.split(', ').filter((name) => !takesAway(name)) ?? [],
  };
}
