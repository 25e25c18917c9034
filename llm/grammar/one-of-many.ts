import type { NetworkState } from '../../core/state/state.ts';
import { formsOf, namesOf } from './names.ts';
import { PEER_NOUNS } from './nouns.ts';
import { ARTICLES, LINKS } from './phrases.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import type { Subject } from './subject.ts';

/** Words for one thing that somebody has or sees, with an article or without. */
const DEVICES: ReadonlySet<string> = new Set([
  ...PEER_NOUNS,
  ...['server', 'box', 'instance', 'laptop', 'desktop', 'workstation', 'phone', 'tablet', 'printer', 'camera'],
  ...['sensor', 'vm', 'container'],
]);
/** Words for what may be many: "the web tier", "the api". */
const COLLECTIVE: ReadonlySet<string> = new Set([
  ...['group', 'tier', 'role', 'environment', 'cluster', 'fleet', 'team', 'zone', 'site', 'network', 'mesh', 'staff'],
  ...['web', 'api', 'ci', 'cd', 'app', 'frontend', 'backend', 'edge', 'infra', 'iot', 'monitoring', 'backup'],
]);
/** Labels whose values are groups by their nature. */
const GROUPING: ReadonlySet<string> = new Set([
  ...['owner', 'user', 'person', 'employee', 'member', 'customer', 'tenant', 'account'],
  ...['team', 'env', 'environment', 'tier', 'group', 'site', 'zone', 'region', 'location', 'department', 'stage'],
]);

/**
 * "The laptop" and "the historian" where there are many is one of them, and it is not known which.
 *
 * @throws Refusal that offers all of them, parts by one label more, and each.
 */
export function refuseOneOfMany(
  subject: Subject,
  words: readonly string[],
  text: string,
  state: NetworkState,
): Subject {
  const link = words.findIndex((word, index) => index > 0 && LINKS.has(word));
  const last = (link < 0 ? words : words.slice(0, link)).at(-1) ?? '';
  const isDevice = DEVICES.has(last.slice(last.lastIndexOf('-') + 1));
  const isOne = isDevice || (ARTICLES.has(words[0] ?? '') && isSingular(last, state));
  if (!isOne || last.includes('=') || subject.peers.length <= 1) return subject;
  const names = subject.peers.map(({ name }) => name).sort();
  throw new Refusal(
    `${quoted(text)} is one, and ${subject.noun} are ${subject.peers.length}.`,
    [`Which one: ${enumerated(names)}? Or say "all ${words.filter((word) => word !== 'the').join(' ')}s".`],
    { by: [subject.noun, ...partsOf(subject, state), ...names] },
  );
}

/** Whether a word is the singular of what a label says: "historian", but not "sensors", "ops" or "the dev team". */
function isSingular(word: string, state: NetworkState): boolean {
  if (COLLECTIVE.has(word) || word.endsWith('s')) return false;
  const { byValue } = namesOf(state);
  const pairs = formsOf(word).flatMap((form) => byValue.get(form) ?? []);
  return pairs.some(({ key }) => !GROUPING.has(key.toLowerCase()));
}

/** Those of a group that have one more label in common. */
function partsOf({ selector, peers }: Subject, state: NetworkState): string[] {
  const own = Object.entries(selector?.matchLabels ?? {});
  if (own.length === 0) return [];
  const within = new Set(peers);
  return namesOf(state).pairs.flatMap((pair) => {
    const shared = pair.peers.filter((peer) => within.has(peer)).length;
    if (shared === 0 || shared === peers.length) return [];
    return [[...own.map(([key, value]) => `${key}=${value}`), `${pair.key}=${pair.value}`].join(',')];
  });
}
