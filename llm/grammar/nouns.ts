/** A peer of which nothing is said. */
export const PEER_NOUNS = ['peer', 'node', 'device', 'host', 'machine', 'computer'];
const NOUNS: ReadonlySet<string> = new Set(
  [
    ...PEER_NOUNS,
    ...['server', 'box', 'instance', 'service', 'group', 'tier', 'role', 'app', 'application', 'system'],
    ...['environment', 'cluster', 'fleet', 'team', 'zone', 'site', 'workload'],
  ].flatMap((noun) => [noun, noun === 'box' ? 'boxes' : `${noun}s`]),
);

/** Returns true for a word that may say what kind of thing is meant, and not which. */
export function isNoun(word: string): boolean {
  return NOUNS.has(word);
}

/** Returns true for a word that may mean everyone: `devices`, `servers`. */
export function isPlural(word: string): boolean {
  return NOUNS.has(word) && word.endsWith('s');
}
