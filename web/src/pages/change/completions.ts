import type { Suggestion } from '../../ui/suggestion.ts';

const KEYWORDS: readonly Suggestion[] = [
  { word: 'peers', about: 'all peers' },
  { word: 'outside', about: 'all other addresses' },
  { word: 'anyone', about: 'peers and outside' },
];

const PORTS: readonly Suggestion[] = [
  { word: 'tcp/22', about: 'SSH' },
  { word: 'tcp/80', about: 'HTTP' },
  { word: 'tcp/443', about: 'HTTPS' },
  { word: 'tcp/3306', about: 'MySQL' },
  { word: 'tcp/3389', about: 'RDP' },
  { word: 'tcp/5432', about: 'PostgreSQL' },
  { word: 'tcp/6379', about: 'Redis' },
  { word: 'udp/53', about: 'DNS' },
  { word: 'tcp/53', about: 'DNS' },
  { word: 'icmp', about: 'ping' },
  { word: 'tcp', about: 'all of TCP' },
  { word: 'udp', about: 'all of UDP' },
];

/** Suggestions shown at once. */
const MAX_SUGGESTIONS = 8;

export interface NamedPeer {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Returns the words that mean somebody in a network: labels and networks before single peers. */
export function vocabularyOf(peers: readonly NamedPeer[], networks: readonly string[]): readonly Suggestion[] {
  const counts = new Map<string, number>();
  for (const { labels } of peers)
    for (const [key, value] of Object.entries(labels))
      counts.set(`${key}=${value}`, (counts.get(`${key}=${value}`) ?? 0) + 1);
  const labels = [...counts].sort(([, one], [, other]) => other - one);
  return [
    ...KEYWORDS,
    ...labels.map(([word, count]) => ({ word, about: count === 1 ? '1 peer' : `${count} peers` })),
    ...networks.map((name) => ({ word: `network=${name}`, about: 'network' })),
    ...peers.map(({ name }) => ({ word: name, about: 'peer' })),
  ];
}

/**
 * Returns words that go on from a text, those that begin with it first. Of several labels the last one is completed.
 *
 * @param text as typed; a comma begins a further label
 */
export function completions(text: string, words: readonly Suggestion[]): readonly Suggestion[] {
  const comma = text.lastIndexOf(',') + 1;
  const [before, last] = [text.slice(0, comma), text.slice(comma).toLowerCase()];
  const offered = before === '' ? words : words.filter(({ word }) => word.includes('='));
  const at = ({ word }: Suggestion) => word.toLowerCase().indexOf(last);
  return offered
    .filter((one) => at(one) >= 0)
    .sort((one, other) => Number(at(one) > 0) - Number(at(other) > 0))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ word, about }) => ({ word: before + word, about }));
}

/** Returns ports that go on from a text; a `!` before them stays. */
export function portCompletions(text: string): readonly Suggestion[] {
  const not = text.startsWith('!') ? '!' : '';
  const rest = text.slice(not.length).toLowerCase();
  return PORTS.filter(({ word, about }) => `${word} ${about.toLowerCase()}`.includes(rest))
    .slice(0, MAX_SUGGESTIONS)
    .map(({ word, about }) => ({ word: not + word, about }));
}
