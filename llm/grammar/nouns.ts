import { formsOf, type Names } from './names.ts';

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
