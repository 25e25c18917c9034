import { type IpRange, overlaps, parseCidr } from '../../core/model/cidr.ts';
import type { PolicySpec, Rule, Selector } from '../../core/model/policy.ts';
import { allRulesOf } from '../../core/model/policy-match.ts';
import type { PeerRecord, PolicyRecord } from '../../core/model/resources.ts';
import { selects, selectsEveryone } from '../../core/model/selector.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { Ranking } from './ranking.ts';
import { SUBGRAPH_LIMITS } from './subgraph.ts';
import { type Phrases, squash, wordsOfName } from './words.ts';

/** Peers, labels, ranges and ports that an intent names; policies are ranked by them. */
export interface Meant {
  readonly peers: readonly PeerRecord[];
  /** `key=value`. */
  readonly pairs: ReadonlySet<string>;
  readonly ranges: readonly IpRange[];
  readonly ports: ReadonlySet<number>;
}

const SCORE = { named: 100, subject: 30, entry: 20, range: 30, everyone: 15, port: 10, word: 8 } as const;
/** Enough to tell whether a policy touches what is meant; peers beyond share labels with these. */
const MAX_PEERS = 16;
const MAX_ENTRIES = 64;

/** Policies, those that an intent names or that touch what it means first. */
export function rankPolicies({ policies }: NetworkState, said: Phrases, meant: Meant): PolicyRecord[] {
  const ranking = new Ranking<PolicyRecord>();
  const touched = { ...meant, peers: meant.peers.slice(0, MAX_PEERS) };
  for (const policy of policies.values())
    ranking.add(policy, nameScore(policy.name, said) + scoreOf(policy.spec, touched));
  return ranking.top(SUBGRAPH_LIMITS.policies * 2, ({ name }) => name);
}

function nameScore(name: string, { joined, hints }: Phrases): number {
  if (joined.has(squash(name))) return SCORE.named;
  let score = 0;
  for (const word of wordsOfName(name)) if (hints.has(word)) score += SCORE.word;
  return score;
}

function scoreOf(spec: PolicySpec, meant: Meant): number {
  const isEveryone = selectsEveryone(spec.peerSelector);
  let score = isEveryone ? SCORE.everyone : SCORE.subject * touches(spec.peerSelector ?? {}, meant);
  const rules = allRulesOf(spec).slice(0, MAX_ENTRIES);
  score += Math.max(0, ...rules.map((rule) => entryScore(rule, meant)));
  if (rules.some(({ ports }) => ports.some(({ port, endPort }) => isAmong(meant.ports, port, endPort))))
    score += SCORE.port;
  return score;
}

function entryScore({ peers }: Rule, meant: Meant): number {
  let score = 0;
  for (const entry of peers.slice(0, MAX_ENTRIES)) {
    if (entry === '*') continue;
    const block = entry.ipBlock && parseCidr(entry.ipBlock.cidr);
    if (block && meant.ranges.some((range) => overlaps(range, block))) score = Math.max(score, SCORE.range);
    if (entry.peerSelector) score = Math.max(score, SCORE.entry * touches(entry.peerSelector, meant));
  }
  return score;
}

/** 1 where the selector names what is meant, less where it only happens to select it. */
function touches(selector: Selector, { peers, pairs }: Meant): number {
  const named = [
    ...Object.entries(selector.matchLabels ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(selector.matchExpressions ?? []).flatMap(({ key, values = [] }) => values.map((value) => `${key}=${value}`)),
  ];
  if (named.some((pair) => pairs.has(pair)) || peers.some(({ uid }) => selector.peers?.includes(uid))) return 1;
  return peers.some((peer) => selects(selector, peer)) ? 0.9 : 0;
}

function isAmong(ports: ReadonlySet<number>, port: number | undefined, endPort = port): boolean {
  if (port === undefined || endPort === undefined) return false;
  if (port === endPort) return ports.has(port);
  for (const one of ports) if (one >= port && one <= endPort) return true;
  return false;
}
