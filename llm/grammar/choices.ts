import type { Token } from './lexicon.ts';
import { type Offers, said } from './refusal.ts';

/** Enough to choose from at a glance. */
export const MAX_CHOICES = 4;
/** Candidates that are tried at most; planning one takes milliseconds. */
const MAX_TRIED = 10;

/** The choices of a refusal that are really planned, as whole intents. */
export function choicesOf(
  { choices = [], replace = [], by = [] }: Offers,
  intent: readonly Token[],
  isPlanned: (intent: string) => boolean,
): string[] {
  const at = intent.findIndex((token) => replace.includes(token));
  const replaced = at < 0 ? [] : by.map((text) => replacedText(intent, replace, text));
  const candidates = [...new Set([...choices, ...replaced].map(withoutEnd))].filter(
    (text) => text !== '' && text !== said(intent),
  );
  const planned: string[] = [];
  for (const candidate of candidates.slice(0, MAX_TRIED)) {
    if (planned.length === MAX_CHOICES) break;
    if (isPlanned(candidate)) planned.push(candidate);
  }
  return planned;
}

/** What stood behind a comma may be gone. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ',; '.includes(text[end - 1] ?? '')) end -= 1;
  return text.slice(0, end);
}

/** The intent with some of its words, which follow each other, replaced by others. */
function replacedText(intent: readonly Token[], replace: readonly { text: string }[], text: string): string {
  const first = intent.findIndex((token) => replace.includes(token));
  const last = intent.findLastIndex((token) => replace.includes(token));
  const parts = [said(intent.slice(0, first)), text, said(intent.slice(last + 1))];
  return parts
    .filter((part) => part !== '')
    .join(' ')
    .replaceAll(/ (?=[,;?)]|\.(?= |$)|'s\b)/g, '')
    .replaceAll(/except for (?=from |to )/g, 'except ');
}
