import type { Drawing } from '../../api/types.ts';
import { pairsText } from '../../reach/ports.ts';

/** What a decision is about, short enough to be said aloud. */
export function sentenceOf({
  opens,
  closes,
  effect,
  changes,
}: Pick<Drawing, 'opens' | 'closes' | 'effect' | 'changes'>): string {
  const more = (count: number) => (count > 1 ? ` and ${count - 1} more` : '');
  const [opened] = opens.rows;
  if (opened) {
    const first = `${opened.from} → ${opened.to} on ${opened.ports}${more(opens.rows.length + opens.omitted_rows)}`;
    return effect.closed_pairs > 0 ? `${first}, closing ${pairsText(effect.closed_pairs)}` : first;
  }
  const [closed] = closes.rows;
  if (closed) {
    return `close ${closed.from} → ${closed.to} on ${closed.ports}${more(closes.rows.length + closes.omitted_rows)}`;
  }
  const [written] = changes;
  return (written ? `${written.action} ${written.name}` : 'what is shown') + more(changes.length);
}
