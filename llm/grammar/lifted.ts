import type { PeerEntry } from '../../core/model/policy.ts';
import type { PolicyRecord } from '../../core/model/resources.ts';
import { selects } from '../../core/model/selector.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { type Account, accountOf, isEveryone, type Who, whosOf } from './account.ts';
import type { Sym, Token } from './lexicon.ts';
import { livePolicies, peersOf } from './selects.ts';
import { type At, isIdle } from './suggest-atoms.ts';

/** Verbs that end something, and what they end. */
const ENDS: ReadonlySet<string> = new Set([
  'lift',
  'end',
  'remove',
  'drop',
  'undo',
  'stop',
  'revoke',
  'cancel',
  'release',
  'take',
  'get',
  'free',
]);
const ENDED: ReadonlySet<string> = new Set(
  'isolation separation quarantine block blocking ban restriction restrictions'.split(' '),
);
const BESIDE: ReadonlySet<Sym> = new Set([
  ...([
    'POLITE',
    'AND',
    'FROM',
    'OF',
    'BETWEEN',
    'ON',
    'FOR',
    'TO',
    'MAY',
    'REACH',
    'REACHING',
    'TALK',
    'MUTUAL',
    'KEEP_OPEN',
  ] as const),
  ...(['REVOKE', 'DENY', 'UNDO', 'STOP', 'ALSO'] as const),
]);

/**
 * "No longer isolate plc-1", "unblock x from y", "remove the separation of x and y", "x and y may talk again": the end of
 * the policies that forbid just that, as a sentence that names them.
 */
export function liftingOf(tokens: readonly Token[], at: At): string[] {
  const { state, now } = at;
  const account = accountOf(tokens, at);
  const [one, other, third] = whosOf(account);
  if (!one || third || !isLifting(account)) return [];
  const names = livePolicies(state, now)
    .filter((policy) => forbidsJust(policy, one, other, state))
    .map(({ name }) => `delete the policy ${name}`);
  return names.length > 0 ? [names.join('; ')] : [];
}

function isLifting({ atoms }: Account): boolean {
  const words = atoms.flatMap((atom) => (atom.kind === 'word' ? [atom.word] : []));
  const has = (set: ReadonlySet<string>) => words.some(({ text }) => set.has(text));
  const lifts = words.some(({ sym, text }) => sym === 'KEEP_OPEN' || text === 'again') || (has(ENDS) && has(ENDED));
  return (
    lifts &&
    atoms.every(({ kind }) => kind === 'who' || kind === 'word') &&
    words.every((word) => (word.sym !== undefined && BESIDE.has(word.sym)) || isKnown(word))
  );
}

function isKnown(word: Token): boolean {
  return (
    (word.sym === undefined && isIdle(word)) ||
    word.text === 'again' ||
    word.text === 'out' ||
    ENDS.has(word.text) ||
    ENDED.has(word.text)
  );
}

/** Whether a policy forbids all between these two, or all of the one, and nothing else. */
function forbidsJust({ spec }: PolicyRecord, one: Who, other: Who | undefined, state: NetworkState): boolean {
  const rules = [...(spec.ingress ?? []), ...(spec.egress ?? [])];
  if (spec.action !== 'DENY' || rules.length === 0) return false;
  const everyone = peersOf(state);
  const subjects = everyone.filter((peer) => selects(spec.peerSelector ?? {}, peer)).map(({ name }) => name);
  const others = rules.map(
    (rule) => ('from' in rule ? rule.from : undefined) ?? ('to' in rule ? rule.to : undefined) ?? [],
  );
  const isAgainst = (who: Who | undefined) =>
    others.every((entries) =>
      who === undefined || isEveryone(who)
        ? entries.length === 0
        : entries.length > 0 && isSame(namesIn(entries, state), who.peers),
    );
  if (isSame(subjects, one.peers) && isAgainst(other)) return true;
  return other !== undefined && isSame(subjects, other.peers) && isAgainst(one);
}

function namesIn(entries: readonly PeerEntry[], state: NetworkState): string[] {
  return peersOf(state)
    .filter((peer) => entries.some((entry) => entry !== '*' && entry.peerSelector && selects(entry.peerSelector, peer)))
    .map(({ name }) => name);
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  const names = new Set(some);
  return names.size === new Set(others).size && others.every((name) => names.has(name));
}
