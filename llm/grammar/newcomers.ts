const MACHINE = '(?:device|peer|machine|node|host|computer)s?';
const LATER = '(?:\\s+(?:later|in (?:the )?future|from now on))?';
const LABEL = '([^\\s,;=]+=[^\\s,;]+)';
const WITH = '(?:with|as|labell?ed|tagged)(?:\\s+(?:the\\s+)?label)?';
/** "Everyone who joins with role=ci", "any new device labelled role=web". */
const JOINING = new RegExp(
  `\\b(?:everyone|everybody|anyone|anybody|whoever|(?:(?:any|every|all|each)\\s+)?(?:new\\s+|future\\s+)?${MACHINE})\\s+(?:(?:who|that|which)\\s+)?joins?(?:ing)?${LATER}\\s+${WITH}\\s+${LABEL}`,
  'i',
);
const NEW = new RegExp(`\\b(?:(?:any|every|all|each)\\s+)?(?:new|future)\\s+${MACHINE}\\s+${WITH}\\s+${LABEL}`, 'i');

/** The same about everyone with a label, which those who join later with it are among; undefined where it is about no such. */
export function withNewcomers(intent: string): string | undefined {
  const found = [JOINING, NEW].find((pattern) => pattern.test(intent));
  return found && intent.replace(found, 'everyone with $1');
}

export const NEWCOMERS =
  'A policy on a label holds for all that carry it, those that join later too, and for those that carry it today: is this what you mean?';
