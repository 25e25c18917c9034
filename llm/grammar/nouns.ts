import { WITHOUT_MEANING } from './coverage.ts';
import type { Token } from './lexicon.ts';
import { formsOf, type Names } from './names.ts';
import { quoted, Refusal } from './refusal.ts';

/** What a peer is called where nothing is said of it. */
export const PEER_NOUNS = ['peer', 'node', 'device', 'host', 'machine', 'computer'];
const NOUNS: ReadonlySet<string> = new Set(
  [
    ...PEER_NOUNS,
    ...['server', 'box', 'instance', 'service', 'group', 'tier', 'role', 'app', 'application', 'system'],
    ...['environment', 'cluster', 'fleet', 'team', 'zone', 'site', 'workload'],
  ].flatMap((noun) => [noun, noun === 'box' ? 'boxes' : `${noun}s`]),
);

/** Whether a word may say what kind of thing is meant, and not which. */
export function isNoun(word: string): boolean {
  return NOUNS.has(word);
}

/** Whether a word says nothing about who is meant: such a noun, and nothing of the network is called so. */
export function isFillerNoun(word: string, { byName, byValue }: Names): boolean {
  return NOUNS.has(word) && !formsOf(word).some((form) => byName.has(form) || byValue.has(form));
}

/**
 * "No device may reach db" is about everyone, unless some are labelled so, and "now" says nothing, unless a peer is called so.
 *
 * @throws Refusal for a phrase of the grammar that hides a name of the network.
 */
export function refuseHiddenNames(tokens: readonly Token[], isName: (word: string) => boolean): void {
  for (const { sym, text } of tokens) {
    const last = text.slice(text.lastIndexOf(' ') + 1);
    const hidden = isNoun(last) ? last : text;
    if (!sym || !isName(hidden) || !(WITHOUT_MEANING.has(sym) || isNoun(last))) continue;
    throw new Refusal(`${quoted(hidden)} in ${quoted(text)} is also the name of a peer or the value of a label.`, [
      `Is it meant? Then put it in quotes, or write it as key=value. Else leave it out, or say "everyone" or "nobody".`,
    ]);
  }
}
