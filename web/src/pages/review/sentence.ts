import type { Drawing } from '../../api/types.ts';
import { review } from '../../texts/review.ts';

const words = review.sentence;

/** What a decision is about, short enough to be said aloud. */
export function sentenceOf({
  opens,
  closes,
  effect,
  changes,
}: Pick<Drawing, 'opens' | 'closes' | 'effect' | 'changes'>): string {
  const more = (count: number) => (count > 1 ? words.more(count - 1) : '');
  const [opened] = opens.rows;
  if (opened) {
    const first = words.opens(opened.from, opened.to, opened.ports) + more(opens.rows.length + opens.omitted_rows);
    return effect.closed_pairs > 0 ? first + words.also(effect.closed_pairs) : first;
  }
  const [closed] = closes.rows;
  if (closed) {
    return words.closes(closed.from, closed.to, closed.ports) + more(closes.rows.length + closes.omitted_rows);
  }
  const [written] = changes;
  return (written ? `${written.action} ${written.name}` : words.nothing) + more(changes.length);
}
