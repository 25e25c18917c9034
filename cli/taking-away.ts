/**
 * First words of the commands that remove, revoke or leave something. No suggestion names one: who misspells a harmless
 * command must not be led to it. A test holds them against the operations that take something away.
 */
const VERBS: ReadonlySet<string> = new Set([
  'delete',
  'disable',
  'down',
  'end',
  'leave',
  'logout',
  'reject',
  'remove',
  'reset',
  'revoke',
]);

/** Tells whether a command takes access or data away, by its name. */
export function takesAway(name: string): boolean {
  return name === 'log-out' || VERBS.has(name.split('-', 1)[0] ?? '');
}
