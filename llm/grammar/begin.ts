import { type MomentReader, momentAt } from './moments.ts';
import { Refusal } from './refusal.ts';
import { timeAt } from './times.ts';
import { textAt, type Word } from './tokens.ts';

/** Words before a moment by which something ends. */
const BEFORE_ENDS: ReadonlySet<string> = new Set(['by', 'before', 'to', 'through', 'and', '-']);

/**
 * Returns the first moment of a sentence that is not the end of what it asks for, ms. No sentence is read with one: orders
 * begin later by a field.
 */
export function beginIn(words: readonly Word[], reader: MomentReader): number | undefined {
  try {
    for (let at = 0; at < words.length; at += 1) {
      const end = timeAt(words, at, reader)?.end;
      if (end !== undefined) at = end - 1;
      else if (!BEFORE_ENDS.has(textAt(words, at - 1))) {
        const found = momentAt(words, at, reader);
        if (found && found.until > reader.now) return found.until;
      }
    }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
  }
  return undefined;
}
