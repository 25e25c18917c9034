import type { NetworkChange } from '../../changes/changes.ts';
import type { PeerEntry, Selector } from '../../model/policy.ts';
import { DIRECTIONS, matchesAnyone, rulesOf } from '../../model/policy-match.ts';
import type { PeerRecord } from '../../model/resources.ts';
import { selects, selectsEveryone } from '../../model/selector.ts';
import { countPairs, groupRows } from '../../reachability/matrix.ts';
import { betweenFuturePeers } from '../../reachability/outside-access.ts';
import type { AllowedPorts } from '../../reachability/port-sets.ts';
import { counted, holdsUnless, listed, named, nothing } from '../check-result.ts';
import { anyoneFaults, matchesFuturePeers, openToAnyone } from '../open-to-anyone.ts';
import { freeName } from '../remedy-names.ts';
import {
  type InForce,
  isIsolated,
  livePeers,
  peersInScope,
  policiesInForce,
  rulesAtScope,
  type View,
} from '../view.ts';
import type { Remedy, StateCheck } from './check.ts';
import { narrowPolicies } from './narrow.ts';

/** Checks that every connection of a peer needs a rule that allows it. */
export const denyAllBase: StateCheck = {
  on: 'state',
  judge(view) {
    const bases = policiesInForce(view).filter(isBase);
    const networks = networksToClose(view);
    const open = networks.filter((name) => !isClosed(view, bases, name));
    const said = bases.map(({ policy }) => policy);
    const facts = said.length > 0 ? `Denied by default by ${named(said)}` : 'Denied by defaultAction DENY';
    return holdsUnless(
      open.map((name) => `the network ${name} has no policy that denies everything by default, in both directions`),
      `${facts} in ${counted(networks.length, 'network')} (${listed(networks)}).`,
    );
  },
  remedy: (view) => ({
    text: 'A network operator writes a policy that denies everything by default, and an ALLOW for what is needed.',
    changes: [createDeny(view, 'deny-all', {})],
  }),
};

/** Returns the networks that have peers; all networks if none has any. */
function networksToClose(view: View): string[] {
  const used = new Set([...view.state.peers.values()].map(({ spec }) => spec.network));
  const all = [...view.state.networks.keys()].sort();
  const those = all.filter((name) => used.has(name));
  return those.length > 0 ? those : all;
}

/** About everyone, and denying in some direction all that no rule of its own allows. */
function isBase({ spec }: InForce): boolean {
  return selectsEveryone(spec.peerSelector) && DIRECTIONS.some((side) => deniesAll(spec, side));
}

function deniesAll(spec: InForce['spec'], direction: 'ingress' | 'egress'): boolean {
  const rules = rulesOf(spec, direction);
  if (rules === undefined) return false;
  if (rules.length === 0) return true;
  return spec.action === 'DENY' && rules.some(({ peers, ports }) => matchesAnyone(peers) && ports.length === 0);
}

function isClosed(view: View, bases: readonly InForce[], network: string): boolean {
  if (view.state.networks.get(network)?.spec.defaultAction === 'DENY') return true;
  const own = bases.filter(({ spec }) => spec.network === undefined || spec.network === network);
  return DIRECTIONS.every((side) => own.some(({ spec }) => deniesAll(spec, side)));
}

/** Checks that peers in scope have, in both directions, only the connections that a rule allows by name. */
export const explicitAllowOnly: StateCheck = {
  on: 'state',
  judge: (view) => judgeExplicit(view, ['ingress', 'egress']),
  detail: reachInWords,
  remedy: (view) => explicitRemedy(view, ['ingress', 'egress']),
};

/** The same of what is opened to them. */
export const explicitInbound: StateCheck = {
  on: 'state',
  judge: (view) => judgeExplicit(view, ['ingress']),
  detail: reachInWords,
  remedy: (view) => explicitRemedy(view, ['ingress']),
};

/** The same of what they open. */
export const explicitOutbound: StateCheck = {
  on: 'state',
  judge: (view) => judgeExplicit(view, ['egress']),
  detail: reachInWords,
  remedy: (view) => explicitRemedy(view, ['egress']),
};

function explicitRemedy(view: View, directions: readonly ('ingress' | 'egress')[]): Remedy {
  const { text, changes } = isolateScope(view);
  const rules = directions.map((direction) => [direction, openToAnyone[direction](view).rules] as const);
  return { text, changes: [...changes, ...narrowPolicies(view, rules)] };
}

function judgeExplicit(view: View, directions: readonly ('ingress' | 'egress')[]) {
  const peers = peersInScope(view);
  if (peers.length === 0) return noneInScope(view);
  const faults = directions.flatMap((direction) => {
    const open = peers.filter((peer) => !isIsolated(view, peer, direction));
    const what = direction === 'ingress' ? 'take any connection' : 'open any connection';
    const anyone = anyoneFaults(view, direction);
    return open.length > 0
      ? [`${named(open)} ${open.length === 1 ? 'may' : 'may each'} ${what} that nothing denies`, ...anyone]
      : anyone;
  });
  return holdsUnless(
    faults,
    `Of ${counted(peers.length, `${view.subject} peer`)} nothing is open but what rules allow, and none of these is about anyone.`,
  );
}

/** How many pairs lead to and from the peers in scope. */
function reachInWords(view: View): string {
  const names = new Set(peersInScope(view).map(({ name }) => name));
  const count = (within: Parameters<typeof groupRows>[1]) => {
    let pairs = 0;
    for (const { src, dst } of groupRows(view.reach(), within)) pairs += pairsOf(src, dst);
    return pairs;
  };
  return `${counted(count({ dst: names }), 'pair')} of peers may open something to them, ${count({ src: names })} are opened by them.`;
}

function isolateScope(view: View): Remedy {
  const peers = peersInScope(view).filter((peer) => DIRECTIONS.some((direction) => !isIsolated(view, peer, direction)));
  return {
    text: `A network operator isolates the ${view.subject} peers, and writes an ALLOW for each connection that they need.`,
    changes: view.rule.selectors
      .filter((selector) => peers.some((peer) => selects(selector, peer)))
      .map((selector, index) =>
        createDeny(view, `isolate-scope${index === 0 ? '' : `-by-label-${index + 1}`}`, selector),
      ),
  };
}

/** Checks that only production reaches production, and that production reaches nothing else. */
export const environmentsApart: StateCheck = {
  on: 'state',
  judge(view) {
    const [prod, others] = environments(view);
    if (prod.length === 0 || others.length === 0)
      return nothing('There are no two environments: peers with the label env=prod, and others.');
    const names = (peers: readonly PeerRecord[]) => new Set(peers.map(({ name }) => name));
    const [inside, outside] = [names(prod), names(others)];
    const crossing = [
      ...groupRows(view.reach(), { src: outside, dst: inside }),
      ...groupRows(view.reach(), { src: inside, dst: outside }),
    ];
    const faults = crossing.map(({ src, dst }) => `${listed(src, 2)} may reach ${listed(dst, 2)}`);
    return holdsUnless(
      faults,
      `Between ${counted(prod.length, 'peer')} with env=prod and ${counted(others.length, 'other')} nothing is open.`,
    );
  },
  remedy(view) {
    const other: Selector = { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['prod'] }] };
    const rules = [{ peerSelector: other }];
    const spec = {
      action: 'DENY' as const,
      peerSelector: { matchLabels: { env: 'prod' } },
      ingress: [{ from: rules }],
      egress: [{ to: rules }],
    };
    return {
      text: 'A network operator separates production from the rest by a DENY in both directions.',
      changes: [{ action: 'create', resource: 'MeshPolicy', name: freeName(view.state, 'prod-apart'), spec }],
    };
  },
};

function environments(view: View): readonly [prod: readonly PeerRecord[], others: readonly PeerRecord[]] {
  const isProd = ({ labels }: PeerRecord) => Object.hasOwn(labels, 'env') && labels['env'] === 'prod';
  const live = livePeers(view);
  return [live.filter(isProd), live.filter((peer) => !isProd(peer))];
}

/** Checks that labels name everyone who may reach health data, one grant at a time. */
export const grantedByLabel: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = peersInScope(view);
    if (peers.length === 0) return noneInScope(view);
    const open = peers.filter((peer) => !isIsolated(view, peer, 'ingress'));
    const rules = rulesAtScope.ingress(view);
    const loose = rules.filter(({ rule }) => rule.peers.length === 0 || !rule.peers.every(isNarrow));
    return holdsUnless(
      [
        ...(open.length > 0 ? [`${named(open)} may be reached by anyone, because nothing isolates them`] : []),
        ...loose.map(
          ({ policy, index }) => `rule ${index} of ${named([policy])} grants access to others than labelled peers`,
        ),
      ],
      `${counted(rules.length, 'grant')} to ${counted(peers.length, `${view.subject} peer`)}, each to peers named by label or id.`,
    );
  },
  remedy(view) {
    const peers = peersInScope(view);
    const { changes } = isolateScope(view);
    const text = `A network operator grants access to ${view.subject} peers by label or by name, and to nobody else.`;
    return { text, changes: peers.some((peer) => !isIsolated(view, peer, 'ingress')) ? changes : [] };
  },
};

function isNarrow(entry: PeerEntry): boolean {
  return entry !== '*' && entry.peerSelector !== undefined && !matchesFuturePeers(entry);
}

/** Checks that nothing is open by default and that no rule opens everything to everyone. */
export const leastReach: StateCheck = {
  on: 'state',
  judge(view) {
    const peers = livePeers(view);
    if (peers.length === 0) return nothing('There are no peers.');
    const open = peers.filter((peer) => !isIsolated(view, peer, 'ingress'));
    const networks = wideNetworks(view);
    const share = networks.length === 0 ? wideShare(view, peers.length) : 0;
    return holdsUnless(
      [
        ...(open.length > 0
          ? [`of ${counted(peers.length, 'peer')} ${open.length} may take any connection: ${named(open)}`]
          : []),
        ...networks.map(
          (name) =>
            `in the network ${name} policies let devices that join without labels open everything at each other`,
        ),
        ...(share >= MOST_PAIRS
          ? [`${Math.round(100 * share)} % of all ordered pairs of peers may open most ports`]
          : []),
      ],
      `Each of ${counted(peers.length, 'peer')} is isolated, and policies do not open everything to everyone.`,
    );
  },
  detail(view) {
    const size = livePeers(view).length;
    const possible = size * (size - 1);
    const share = possible === 0 ? 0 : Math.round((100 * countPairs(view.reach())) / possible);
    return `${share} % of ${counted(possible, 'ordered pair')} may open something.`;
  },
  remedy: denyAllBase.remedy,
};

/** The share of all ordered pairs from which on everything is open, however policies are spelled; of three peers or more. */
const MOST_PAIRS = 0.9;
const LEAST_PEERS = 3;
/** Ports of a protocol from which on most are open. */
const MOST_PORTS = 32_768;

/** Networks in which whoever joins may open most of what others have. */
function wideNetworks(view: View): string[] {
  return [...betweenFuturePeers(view.reach())].flatMap(([network, allowed]) => (isWide(allowed) ? [network] : []));
}

function wideShare(view: View, size: number): number {
  const possible = size * (size - 1);
  // Most networks open few pairs at all, which is counted at once.
  if (size < LEAST_PEERS || countPairs(view.reach()) < MOST_PAIRS * possible) return 0;
  let wide = 0;
  for (const { src, dst, allowed } of groupRows(view.reach())) if (isWide(allowed)) wide += pairsOf(src, dst);
  return wide / possible;
}

function isWide(allowed: AllowedPorts): boolean {
  if (allowed === 'ALL') return true;
  const ports = new Map<string, number>();
  for (const { protocol, from, to = from } of allowed) {
    const count = from === undefined || to === undefined ? 0 : to - from + 1;
    ports.set(protocol, (ports.get(protocol) ?? 0) + count);
  }
  return [...ports.values()].some((count) => count >= MOST_PORTS);
}

function pairsOf(src: readonly string[], dst: readonly string[]): number {
  const targets = new Set(dst);
  return src.reduce((sum, name) => sum + dst.length - (targets.has(name) ? 1 : 0), 0);
}

export function noneInScope({ subject, rule }: View) {
  return nothing(`No ${subject} peer is in scope: none is labelled ${rule.text}.`);
}

function createDeny(view: View, wanted: string, peerSelector: Selector): NetworkChange {
  const name = freeName(view.state, wanted);
  return { action: 'create', resource: 'MeshPolicy', name, spec: { action: 'DENY', peerSelector } };
}
