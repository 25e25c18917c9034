/** The reason why a sentence is not turned into orders. Caught by the reader alone, which answers it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly questions: readonly string[];

  constructor(reason: string, questions: readonly string[] = []) {
    super(reason);
    this.questions = questions;
  }
}

const SHOWN_LENGTH = 80;

/** Returns a name or phrase as data inside a sentence: quoted, on one line, bounded. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text);
}

/** Returns at most `limit` items of a list, and how many more there are. */
export function enumerated(items: readonly string[], limit = 8): string {
  const rest = items.length - limit;
  return rest > 0 ? `${items.slice(0, limit).join(', ')} and ${rest} more` : items.join(', ');
}

/** Returns words as they can be sent again: names that were quoted are quoted. */
export function textOf(words: readonly { readonly text: string; readonly quoted: boolean }[]): string {
  return words
    .map(({ text, quoted: isQuoted }) => (isQuoted ? `"${text}"` : text))
    .join(' ')
    .replaceAll(/ (?=[,;?)]|\.(?= |$)|'s\b)/g, '')
    .replaceAll('( ', '(');
}
