import type { Word } from './tokens.ts';

/** What a refusal offers besides its questions. Each choice is tried before it is shown, so one that is not planned is never seen. */
export interface Offers {
  /** Whole intents. */
  readonly choices?: readonly string[];
  /** Words of the intent, and what may stand in their place. */
  readonly replace?: readonly Word[];
  readonly by?: readonly string[];
  /** Nothing else is offered: what is asked for is not what policies do. */
  readonly final?: true;
}

/** Why an intent is not turned into changes. Caught by the planner alone, which answers it. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly questions: readonly string[];
  readonly offers: Offers;

  constructor(reason: string, questions: readonly string[] = [], offers: Offers = {}) {
    super(reason);
    this.questions = questions;
    this.offers = offers;
  }
}

const SHOWN_LENGTH = 80;

/** A name or phrase as data inside a sentence: quoted, on one line, bounded. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > SHOWN_LENGTH ? `${text.slice(0, SHOWN_LENGTH)}…` : text);
}

/** At most `limit` items of a list, and how many more there are. */
export function enumerated(items: readonly string[], limit = 8): string {
  const rest = items.length - limit;
  return rest > 0 ? `${items.slice(0, limit).join(', ')} and ${rest} more` : items.join(', ');
}

/** Words as they can be sent again: names that were quoted are quoted. */
export function said(words: readonly Word[]): string {
  return words
    .map(({ text, quoted: named }) => (named ? `"${text}"` : text))
    .join(' ')
    .replaceAll(/ (?=[,;?)]|\.(?= |$)|'s\b)/g, '')
    .replaceAll('( ', '(');
}

/** What a reading comes to; undefined where it is refused. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
