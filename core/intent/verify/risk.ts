import type { Connections, Future } from '../../authority/future.ts';
import type { Comparison } from '../../authority/state-after.ts';
import { getOrInsertComputed } from '../../base/get-or-insert.ts';
import type { EffectGroup, OutsideEffect } from '../../effect/connection-changes.ts';
import { type Effect, namesOn } from '../../effect/effect.ts';
import { counted } from '../../effect/markdown.ts';
import type { PortSpan } from '../../effect/port-spans.ts';
import { routeText } from '../../effect/routes.ts';
import type { PolicySpec, Rule, Selector } from '../../model/policy.ts';
import { DIRECTIONS, matchesAnyone, rulesOf } from '../../model/policy-match.ts';
import { MOST_OF_ONE, publicPartOf } from '../../model/public-addresses.ts';
import { OUTSIDE, sizeOf, union } from '../../model/ranges.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { openByDefault, openedByDefaultTo } from '../../reachability/open-by-default.ts';
import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Finding } from './findings.ts';
import {
  GUARDED_PORTS,
  PERSONAL_PLATFORMS,
  PERSONAL_WORDS,
  PRODUCTION_LABELS,
  PRODUCTION_VALUES,
  RISK_LEVELS,
  RISKS,
  type RiskLevel,
  type RiskRow,
  SERVICE_LABELS,
} from './risk-table.ts';

export interface Risk {
  readonly level: RiskLevel;
  /** Why, the gravest first. */
  readonly reasons: readonly string[];
}

/** Labels that mark peers whose data is worth protecting (facts of the frameworks: PCI-DSS, HIPAA). */
const SENSITIVE_LABELS = ['compliance.scope', 'pci', 'phi', 'ephi', 'data'] as const;
const HARMLESS_VALUES: ReadonlySet<string> = new Set(['false', 'no', 'none', 'public']);
/** Shares of the network from which on a change is more than local. Tiny networks are always wholly touched. */
const WIDE_SHARE = 0.25;
const WIDE_PEERS = 8;
const OUTAGE_SHARE = 0.5;
const OPENING_SHARE = 0.5;
/** Pairs from which on a closing is of many, however large the network is. */
const MANY_PAIRS = 100;
/** Ports of one pair from which on an opening is no longer for one service; the dynamic ports are 16,384. */
const MANY_PORTS = 100;
const ANY_PORTS = 16_000;
/** Up to so many are services, each for itself. */
const FEW_PORTS = 10;

/** The facts from which a risk is computed. */
export interface Weighed {
  readonly effect: Effect;
  readonly before: NetworkState;
  readonly after: NetworkState;
  /** Both states, compiled for one instant. */
  readonly was: Reachability;
  readonly is: Reachability;
  readonly callerPeer: string | undefined;
  readonly findings: readonly Finding[];
  /** The connections that open and close at other times and for other peers; they weigh the same as present ones. */
  readonly future?: Future;
}

/** Counts of an effect that show how much of the network it closes. */
export type ClosedPairs = Pick<Effect, 'lostPairs' | 'closedPairs' | 'pairsBefore'>;

type Reason = readonly [row: RiskRow, text: string];

/**
 * Returns how risky a change is, computed from its effect alone: the gravest of its reasons, each a row of `RISKS`.
 *
 * Example: web-1 and card-1 (`pci=true`), closed by a `DENY` of everyone without rules, and a plan that lets web-1 reach
 * card-1 on TCP 443. One port is no reason, the sensitive target is one: high. The same plan with the `DENY` taken away is
 * critical: newcomers may connect by default after it, and did not before. With the `DENY` about everyone but web-1 it
 * is critical too, for another reason: anyone outside gets at every port of web-1.
 *
 * @param later the same change at the later instants at which policies begin that it writes or deletes
 */
export function riskOf(weighed: Weighed, later: readonly Comparison[] = []): Risk {
  const { callerPeer } = weighed;
  const all = [weighed, ...later.map((then) => ({ ...then, callerPeer, findings: [] }))].flatMap(reasonsOf);
  const weightOf = ([row]: Reason) => RISK_LEVELS.indexOf(RISKS[row].level);
  const reasons = all.toSorted((a, b) => weightOf(b) - weightOf(a));
  const [gravest] = reasons;
  return {
    level: gravest ? RISKS[gravest[0]].level : 'low',
    reasons: [...new Set(reasons.map(([, reason]) => reason))],
  };
}

function reasonsOf(weighed: Weighed): Reason[] {
  const { effect, before, after, findings, future } = weighed;
  const unseen = future?.opened.views.map((view) => view.effect) ?? [];
  const wasSensitive = (name: string) => isSensitive(before.peers.get(name));
  const sensitive = (name: string) => wasSensitive(name) || isSensitive(after.peers.get(name));
  const versions = (name: string) => [before.peers.get(name), after.peers.get(name)];
  // Everyone of a tiny network is everyone who joins it later, too.
  const atLeast = effect.openedPairs > 0 && isWidenedToEveryone(before, after) ? 1 : WIDE_PEERS;
  return [
    ...routeRisks(effect),
    ...[effect, ...unseen].flatMap((opening) => [
      ...openingRisks(opening, sensitive),
      ...guardedRisks(opening, versions),
    ]),
    ...unmarkedRisks(weighed),
    ...defaultRisks(weighed),
    ...shareRisks(effect, after.peers.size, atLeast),
    ...closingRisks(weighed),
    ...cutOffRisks(weighed),
    ...guardedClosingRisks(effect, (name) => sensitive(name) || versions(name).some(isProduction)),
    ...touchedRisks(effect, after.peers.size, atLeast),
    ...findings.flatMap(findingRisks),
  ];
}

/**
 * Returns the risk of a change together with closings that were carried out lately without a person: many small ones come
 * to no less than one of all of them.
 *
 * @param effect its `pairsBefore` are those before all of them
 * @param earlier pairs that those closed; each counts as wholly closed
 */
export function withEarlierClosings(risk: Risk, effect: ClosedPairs, earlier: number): Risk {
  if (earlier === 0 || effect.closedPairs === 0) return risk;
  const [closedPairs, lostPairs] = [effect.closedPairs + earlier, effect.lostPairs + earlier];
  const row = closingRow({ closedPairs, lostPairs, pairsBefore: effect.pairsBefore });
  const { level } = RISKS[row];
  if (isAtMost(level, risk.level)) return risk;
  const reason = `closes ${counted(closedPairs, 'pair')} of peers together with what was carried out without a person in the last 24 hours`;
  return { level, reasons: [reason, ...risk.reasons] };
}

/** Nodes route other addresses than before. */
function routeRisks({ routes }: Effect): Reason[] {
  return routes.map((route): Reason => ['route', routeText(route)]);
}

function unmarkedRisks({ before, after }: Weighed): Reason[] {
  const unmarked = [...after.peers].filter(
    ([name, peer]) => peer !== before.peers.get(name) && isSensitive(before.peers.get(name)) && !isSensitive(peer),
  ).length;
  return unmarked > 0 ? [['unmarked', `takes the mark of sensitive data from ${counted(unmarked, 'peer')}`]] : [];
}

/** Networks that open where no rule says anything: to devices that join, or between most of their peers. */
function defaultRisks({ before, after, was, is }: Weighed): Reason[] {
  return [...after.networks.keys()].flatMap((name): Reason[] => {
    if (!before.networks.has(name)) return [];
    const [old, now] = [openByDefault(was, name), openByDefault(is, name)];
    const opened = now.openPairs - old.openPairs;
    const isOpened = (now.toNewcomers && !old.toNewcomers) || (opened > 0 && opened >= OPENING_SHARE * now.pairs);
    if (isOpened) return [['defaultToAll', `opens the network ${name} by default`]];
    const labels = openedByDefaultTo([was, is], name, distinguishedKinds(before, after));
    if (!labels) return [];
    const text = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    const whom = text.length > 0 ? `devices with ${text.join(', ')}` : 'devices without labels';
    return [['defaultToSome', `opens the network ${name} by default to ${whom}`]];
  });
}

/** Beyond it labels are tried each for itself, not two by two. */
const MAX_PAIRED = 64;

/**
 * Labels by which the selectors that a change alters tell devices apart: each value that they name and one that none names,
 * alone and with one of another key. Whom several selectors leave out together has no more than one label of each.
 */
function distinguishedKinds(before: NetworkState, after: NetworkState): Readonly<Record<string, string>>[] {
  const valuesByKey = new Map<string, Set<string>>();
  const values = (key: string) => getOrInsertComputed(valuesByKey, key, () => new Set([UNNAMED]));
  for (const name of new Set([...before.policies.keys(), ...after.policies.keys()])) {
    const [old, now] = [before.policies.get(name), after.policies.get(name)];
    if (old === now) continue;
    for (const { matchLabels = {}, matchExpressions = [] } of [old, now].flatMap(
      (one) => one?.spec.peerSelector ?? [],
    )) {
      for (const [key, value] of Object.entries(matchLabels)) values(key).add(value);
      for (const expression of matchExpressions) {
        for (const value of expression.values ?? []) values(expression.key).add(value);
        values(expression.key);
      }
    }
  }
  const single = [...valuesByKey].flatMap(([key, of]) => [...of].map((value) => [key, value] as const));
  const paired =
    single.length > MAX_PAIRED
      ? []
      : single.flatMap((one, index) =>
          single.slice(index + 1).flatMap((other) => (one[0] === other[0] ? [] : [[one, other]])),
        );
  return [[], ...single.map((one) => [one]), ...paired].map((labels) => Object.fromEntries(labels));
}

/** A value that no selector names, by its look. */
const UNNAMED = 'any-other-value';

/** Returns true if an ALLOW, or its replacement, matches everyone at an end at which it matched fewer. */
function isWidenedToEveryone(before: NetworkState, after: NetworkState): boolean {
  const changed = (some: NetworkState['policies'], others: NetworkState['policies']) =>
    [...some.values()].filter(({ name, spec }) => spec.action === 'ALLOW' && spec !== others.get(name)?.spec);
  const old = changed(before.policies, after.policies);
  return changed(after.policies, before.policies).some(({ name, spec }) => {
    const same = before.policies.get(name);
    const replaced = same?.spec.action === 'ALLOW' ? [same] : old;
    const meant = replaced.map((one) => endsForEveryone(one.spec));
    return [...endsForEveryone(spec)].some((end) => meant.some((ends) => !ends.has(end)));
  });
}

/** The ends of a policy's rules at which it means every peer. */
function endsForEveryone(spec: PolicySpec): Set<'subject' | Rule['direction']> {
  const ends = new Set<'subject' | Rule['direction']>();
  for (const direction of DIRECTIONS) {
    for (const { peers } of rulesOf(spec, direction) ?? []) {
      if (isEveryone(spec.peerSelector)) ends.add('subject');
      if (
        matchesAnyone(peers) ||
        peers.some((entry) => entry !== '*' && entry.peerSelector && isEveryone(entry.peerSelector))
      )
        ends.add(direction);
    }
  }
  return ends;
}

function isEveryone(selector: Selector = {}): boolean {
  const { peers, notPeers = [], matchLabels = {}, matchExpressions = [] } = selector;
  return peers === undefined && notPeers.length + Object.keys(matchLabels).length + matchExpressions.length === 0;
}

function shareRisks({ openedPairs }: Effect, peers: number, atLeast: number): Reason[] {
  const possible = peers * (peers - 1);
  if (openedPairs < atLeast || openedPairs < OPENING_SHARE * possible) return [];
  return [['half', `opens ${openedPairs} of ${possible} pairs of peers`]];
}

function touchedRisks({ groups }: Effect, peers: number, atLeast: number): Reason[] {
  const touched = namesOn(groups, 'src', 'dst').size;
  if (touched < atLeast || touched <= WIDE_SHARE * peers) return [];
  return [['touches', `touches ${touched} of ${peers} peers`]];
}

function closingRisks({ effect, callerPeer, future }: Weighed): Reason[] {
  const reasons: Reason[] = [];
  if (effect.lostPairs > 0) {
    const text = `ends all traffic of ${counted(effect.lostPairs, 'pair')} of peers (${FLOWS_UNKNOWN})`;
    reasons.push([closingRow(effect), text]);
  } else if (effect.closedPairs > 0) {
    const text = `closes ports between ${counted(effect.closedPairs, 'pair')} of peers (${FLOWS_UNKNOWN})`;
    reasons.push([closingRow(effect), text]);
  } else if (closesAny(effect)) {
    reasons.push(['closes', `closes connections with addresses outside the network (${FLOWS_UNKNOWN})`]);
  } else if (future?.closed.views.some((view) => closesAny(view.effect))) {
    reasons.push(['closesLater', CLOSES_LATER]);
  }
  const closing = effect.groups.filter(({ closed }) => closed.length > 0);
  if (callerPeer !== undefined && namesOn(closing, 'src', 'dst').has(callerPeer)) {
    reasons.push(['closesCaller', 'closes connections of the caller itself']);
  }
  return reasons;
}

const CLOSES_LATER = 'closes connections later, or of devices that join later';

/** Peers that keep no connection with another peer in a direction in which they had one. */
function cutOffRisks({ effect, is }: Weighed): Reason[] {
  if (effect.lostPairs === 0 || effect.closedPairs >= MANY_PAIRS) return [];
  const lost = effect.groups.filter(({ closed, open }) => closed.length > 0 && open.length === 0);
  const unreached = [...namesOn(lost, 'dst')].filter((name) => !is.isConnected(name, 'in'));
  const unreaching = [...namesOn(lost, 'src')].filter((name) => !is.isConnected(name, 'out'));
  const cutOff = new Set([...unreached, ...unreaching]).size;
  return cutOff > 0 ? [['cutsOff', `ends the last connection of ${counted(cutOff, 'peer')} with others`]] : [];
}

function guardedClosingRisks({ groups, outside = [] }: Connections, isGuarded: (name: string) => boolean): Reason[] {
  const closing = groups.filter(({ closed }) => closed.length > 0);
  const ofOutside = outside.flatMap(({ closed, peers }) => (closed.length > 0 ? peers : []));
  const guarded = new Set([...namesOn(closing, 'src', 'dst'), ...ofOutside].filter(isGuarded)).size;
  if (guarded === 0) return [];
  return [['closesGuarded', `closes connections of ${counted(guarded, 'production or sensitive peer')}`]];
}

const FLOWS_UNKNOWN = 'whether anything uses them is not known';

function closingRow({ lostPairs, closedPairs, pairsBefore }: ClosedPairs): RiskRow {
  if (pairsBefore >= WIDE_PEERS && lostPairs === pairsBefore) return 'closesAll';
  if (pairsBefore >= WIDE_PEERS && lostPairs >= OUTAGE_SHARE * pairsBefore) return 'closesHalf';
  const isMany = closedPairs >= WIDE_PEERS && closedPairs >= WIDE_SHARE * pairsBefore;
  const isAll = lostPairs > 2 && lostPairs === pairsBefore;
  return isMany || isAll || closedPairs >= MANY_PAIRS ? 'closesMany' : 'closes';
}

function closesAny({ groups, outside = [] }: Connections): boolean {
  return [...groups, ...outside].some(({ closed }) => closed.length > 0);
}

const ROW_OF_FINDING: Partial<Record<Finding['code'], RiskRow>> = {
  CONTROL_LOCKED_OUT: 'locksOutControl',
  CALLER_LOCKED_OUT: 'locksOut',
  ADMIN_LOCKED_OUT: 'locksOut',
  BEYOND_DELEGATION: 'beyondDelegation',
  OPENS_LATER: 'opensLater',
  THROUGH_DENY: 'throughDeny',
  NARROWS_DENY: 'narrowsDeny',
  CLOSES_LATER: 'closesUnseen',
  BREAKS_CONTROL: 'breaksControl',
};

function findingRisks({ code, message }: Finding): Reason[] {
  if (code === 'OPENS_TO_NEWCOMERS') return [['newcomers', 'opens connections of devices that join later']];
  if (code === 'CLOSES_TO_NEWCOMERS') return [['closesLater', CLOSES_LATER]];
  const row = ROW_OF_FINDING[code];
  return row ? [[row, message]] : [];
}

/** Management and database ports, by who gets at them. */
function guardedRisks(
  { groups, outside = [] }: Connections,
  versionsOf: (name: string) => readonly (PeerRecord | undefined)[],
): Reason[] {
  const reasons: Reason[] = [];
  const fromOutside = outside.filter(({ side, opened }) => side === 'src' && guardedIn(opened) !== undefined);
  const [first] = fromOutside;
  if (first) {
    reasons.push(['guardedFromOutside', `lets addresses outside of the network in on ${guardedIn(first.opened)}`]);
  }
  const isAny = (name: string, test: (peer: PeerRecord | undefined) => boolean) => versionsOf(name).some(test);
  const opened = groups.filter((group) => guardedIn(group.opened) !== undefined);
  const personal = opened.filter(({ src }) => src.some((name) => isAny(name, isPersonal)));
  const targets = namesOn(personal, 'dst');
  // Devices that join later are tried by names that no peer has.
  const there = [...targets].filter((name) => isAny(name, (peer) => peer !== undefined)).length;
  const where = [
    ...(there > 0 ? [counted(there, 'peer')] : []),
    ...(there < targets.size ? ['devices that join later'] : []),
  ];
  const [one] = personal;
  if (!one) return reasons;
  const what = `opens ${guardedIn(one.opened)} to a person's device or CI`;
  const ofProduction = [...targets].filter((name) => isAny(name, isProduction)).length;
  if (ofProduction > 0)
    reasons.push(['guardedToProduction', `${what}, on ${counted(ofProduction, 'production peer')}`]);
  else if (targets.size > 1) reasons.push(['guardedToSeveral', `${what}, on ${where.join(' and ')}`]);
  else reasons.push(['guardedToOne', what]);
  return reasons;
}

/** Names the first management or database port of some; undefined where there is none. */
function guardedIn(spans: readonly PortSpan[]): string | undefined {
  for (const [kind, ports] of Object.entries(GUARDED_PORTS)) {
    const port = ports.find((number) => spans.some((span) => holdsPort(span, number)));
    if (port !== undefined) return `the ${kind} port ${port}`;
  }
  return undefined;
}

function holdsPort({ protocol, from, to }: PortSpan, port: number): boolean {
  return protocol !== 'ICMP' && from !== undefined && to !== undefined && from <= port && port <= to;
}

/** Returns true for a person's device or CI, and for any peer that is not known to be a server. */
function isPersonal(peer: PeerRecord | undefined): boolean {
  if (!peer) return false;
  const { platform } = peer.spec;
  if (platform !== undefined && PERSONAL_PLATFORMS.includes(platform.toLowerCase())) return true;
  const words = [peer.name, ...Object.values(peer.labels)].flatMap((text) => text.toLowerCase().split(/[^a-z]+/));
  return (
    words.some((word) => PERSONAL_WORDS.includes(word)) ||
    !SERVICE_LABELS.some((key) => Object.hasOwn(peer.labels, key))
  );
}

function isProduction(peer: PeerRecord | undefined): boolean {
  return PRODUCTION_LABELS.some((key) => PRODUCTION_VALUES.includes(peer?.labels[key]?.toLowerCase() ?? ''));
}

function openingRisks({ groups, outside = [] }: Connections, sensitive: (name: string) => boolean): Reason[] {
  const reasons: Reason[] = [];
  const opened = groups.filter((group) => group.opened.length > 0);
  const widest = [...opened, ...outside].reduce((most, group) => Math.max(most, portsOpened(group)), 0);
  if (widest >= ANY_PORTS) reasons.push(['everyPort', 'opens almost every port of a protocol, or all']);
  else if (widest >= MANY_PORTS) reasons.push(['manyPorts', `opens ${widest} ports of one target`]);
  const reached = [...namesOn(opened, 'dst')].filter(sensitive).length;
  if (reached > 0) reasons.push(['sensitive', `opens new connections to ${counted(reached, 'sensitive peer')}`]);
  for (const side of ['src', 'dst'] as const) {
    const ofSide = outside.filter((group) => group.side === side && group.opened.length > 0);
    if (ofSide.length > 0) reasons.push(outsideRisk(side, ofSide, sensitive));
  }
  return reasons;
}

/** A range is judged with what is open beside it already, so that slices of one come to no less than the whole. */
function portsOpened({ opened, open }: Pick<EffectGroup, 'opened' | 'open'>): number {
  const count = portsIn(opened);
  return count > FEW_PORTS ? Math.max(count, portsIn(open)) : count;
}

function portsIn(spans: readonly PortSpan[]): number {
  return spans.reduce((sum, { from, to }) => sum + (from === undefined || to === undefined ? 1 : to - from + 1), 0);
}

/** Returns true if a level is at most another. */
export function isAtMost(level: RiskLevel, maximum: RiskLevel): boolean {
  return RISK_LEVELS.indexOf(level) <= RISK_LEVELS.indexOf(maximum);
}

function isSensitive(peer: PeerRecord | undefined): boolean {
  if (!peer) return false;
  return SENSITIVE_LABELS.some((key) => {
    const value = Object.hasOwn(peer.labels, key) ? peer.labels[key] : undefined;
    return value !== undefined && !HARMLESS_VALUES.has(value.toLowerCase());
  });
}

/** Returns the risk of opening connections from or to outside addresses, by their total number and their owners. */
function outsideRisk(
  side: OutsideEffect['side'],
  groups: readonly OutsideEffect[],
  sensitive: (name: string) => boolean,
): Reason {
  const isIn = side === 'src';
  const isSensitivePeer = groups.some(({ peers }) => peers.some(sensitive));
  const ranges = union(groups.flatMap((group) => group.ranges));
  const names = [...new Set(groups.flatMap((group) => group.names))];
  const [name = '', ...more] = names;
  const open = publicPartOf(ranges);
  const isAnyone = ([4, 6] as const).some((f) => sizeOf(open.filter(({ family }) => family === f)) > MOST_OF_ONE[f]);
  if (isAnyone) {
    const left = more.length === 0 && name === OUTSIDE ? '' : ` (${name}${more.length > 0 ? ' and more' : ''})`;
    const reason = isIn
      ? `lets anyone in, from outside the network too${left}`
      : `lets peers out to anyone, outside the network too${left}`;
    if (!isSensitivePeer) return [isIn ? 'anyoneIn' : 'anyoneOut', reason];
    return [isIn ? 'anyoneInToSensitive' : 'anyoneOut', `${reason}, sensitive peers too`];
  }
  const whose = open.length > 0 ? 'public' : 'private';
  const range = `${name}${more.length > 0 ? ` and ${counted(more.length, 'more range')}` : ''} (${whose})`;
  const text = isIn ? `lets ${range} in from outside the network` : `lets peers out to ${range}`;
  if (isSensitivePeer) return ['outsideWithSensitive', `${text}, sensitive peers too`];
  if (!isIn) return ['rangeOut', text];
  return [sizeOf(ranges) === 1n ? 'oneIn' : 'rangeIn', text];
}
