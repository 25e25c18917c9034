import type { NetworkState } from './state.ts';
import { namesOf } from './terms.ts';

/** Names shown of what no label says. */
const MAX_SINGLES = 20;

/**
 * A set of names in few words: everyone, the labels that all of whose peers are in it, the widest first, and the rest by
 * name: `web-1, web-2, web-3, db-1` is `role=web (3 peers)` and `db-1`. Words in them are data.
 *
 * @param others who stand at the other end: all but these are `every other peer`
 */
export function groupsOf(
  names: readonly string[],
  { peers }: Pick<NetworkState, 'peers'>,
  others: readonly string[] = [],
): string[] {
  const left = new Set(names);
  const all = namesOf('*', { peers });
  const words: string[] = [];
  const missing = all.filter((name) => !left.has(name));
  const isEveryOther = missing.length === others.length && missing.every((name) => others.includes(name));
  if (all.length - missing.length > 1 && isEveryOther && others.length > 0) {
    words.push(`every other peer (${all.length - missing.length})`);
    for (const name of all) left.delete(name);
  } else if (all.length > 1 && missing.length === 0) {
    words.push(`every peer (${all.length})`);
    for (const name of all) left.delete(name);
  }
  const whole = termsOf(left, { peers })
    .map((term) => ({ term, members: namesOf(term, { peers }) }))
    .filter(({ members }) => members.length > 1 && members.every((name) => left.has(name)))
    .sort((a, b) => b.members.length - a.members.length || (a.term < b.term ? -1 : 1));
  for (const { term, members } of whole) {
    if (!members.every((name) => left.has(name))) continue;
    words.push(`${term} (${members.length} peers)`);
    for (const name of members) left.delete(name);
  }
  const singles = [...left].sort();
  const more = singles.length - MAX_SINGLES;
  return [...words, ...singles.slice(0, MAX_SINGLES), ...(more > 0 ? [`${more} more`] : [])];
}

/** Each `key=value` that some of the peers have. */
export function termsOf(names: Iterable<string>, { peers }: Pick<NetworkState, 'peers'>): string[] {
  const terms = new Set<string>();
  for (const name of names) {
    for (const [key, value] of Object.entries(peers.get(name)?.labels ?? {})) terms.add(`${key}=${value}`);
  }
  return [...terms];
}
