import type { PeerEntry, Selector } from '../../core/model/policy.ts';
import type { PeerRecord } from '../../core/model/resources.ts';
import { selects, selectsEveryone } from '../../core/model/selector.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { namesOf, type Pair } from './names.ts';
import { outsideEntries } from './outside.ts';
import { requireOutside, withoutBlocks } from './ranges.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';

/** Who a phrase means: as a selector of policies, as the peers it selects today, and as a term of expectations. */
export interface Subject {
  /** Every peer, and addresses outside of the network too. */
  readonly everyone: boolean;
  /** Undefined for addresses, which no policy can be written on. */
  readonly selector: Selector | undefined;
  /** The same as entries of a rule. */
  readonly entries: readonly PeerEntry[];
  /** Entries that belong to it where something is forbidden: who is outside of the network. */
  readonly outsiders: readonly PeerEntry[];
  readonly peers: readonly PeerRecord[];
  /** Terms of expectations: a peer by name, `label=value,label!=value`, or `*`. */
  readonly terms: readonly string[];
  /** For the names of policies. */
  readonly slug: string;
  /** For sentences. */
  readonly noun: string;
  /** Left out by "except": they are meant not to have what the others get. */
  readonly excepted: readonly Subject[];
}

/** Every peer there is or will be. */
export function everyone(state: NetworkState): Subject {
  const selector: Selector = {};
  return {
    everyone: true,
    selector,
    entries: [{ peerSelector: selector }],
    outsiders: [],
    peers: namesOf(state).peers,
    terms: ['*'],
    slug: 'everyone',
    noun: 'everyone',
    excepted: [],
  };
}

/** Peers that carry all of these labels. */
export function labelled(pairs: readonly Pair[]): Subject {
  const selector: Selector = { matchLabels: Object.fromEntries(pairs.map(({ key, value }) => [key, value])) };
  const [smallest] = pairs.toSorted((a, b) => a.peers.length - b.peers.length);
  const term = pairs.map(({ key, value }) => `${key}=${value}`).join(',');
  return {
    everyone: false,
    selector,
    entries: [{ peerSelector: selector }],
    outsiders: [],
    peers:
      pairs.length === 1 ? (smallest?.peers ?? []) : (smallest?.peers ?? []).filter((peer) => selects(selector, peer)),
    terms: [term],
    slug: pairs.map(({ value }) => value).join('-'),
    noun: term,
    excepted: [],
  };
}

/** One peer, by its id: whatever it or another one is called later. */
export function onePeer(peer: PeerRecord): Subject {
  const selector: Selector = { peers: [peer.uid] };
  return {
    everyone: false,
    selector,
    entries: [{ peerSelector: selector }],
    outsiders: [],
    peers: [peer],
    terms: [peer.name],
    slug: peer.name,
    noun: peer.name,
    excepted: [],
  };
}

/** Most peers that are named one by one where no label tells them apart. */
const MAX_SINGLED = 20;

/**
 * A subject without some of its peers, by their labels: several subjects where more than one label tells those that are
 * left out apart, as who is not `role=web,env=prod` is not web, or not in prod.
 */
export function without(base: Subject, excepted: readonly Subject[], state: NetworkState): Subject[] {
  if (base.selector === undefined)
    throw new Refusal(`Of ${quoted(base.noun)} nothing can be left out.`, ['Which addresses are meant?']);
  const ranges = excepted.filter(({ selector }) => selector === undefined);
  requireOutside(base, ranges);
  const simple = excepted.filter((one) => one.selector !== undefined && isSimple(one));
  const kept = withoutSimple(base, base.selector, simple);
  const noun = `${base.noun}${base.excepted.length > 0 ? ',' : ' except'} ${enumerated(excepted.map((one) => one.noun))}`;
  const first = {
    noun,
    outsiders: withoutBlocks(base.everyone ? outsideEntries(state) : base.outsiders, ranges),
    excepted: [...base.excepted, ...excepted],
  };
  const joint = excepted.filter((one) => one.selector !== undefined && !isSimple(one));
  if (joint.length === 0) return [{ ...kept, ...first, everyone: false }];
  const narrowed = joint.reduce(
    (all, one) => {
      const ways = waysOut(one).filter((way) => isPossible(way, base));
      if (all.length * ways.length > MAX_WAYS)
        throw new Refusal(`${quoted(noun)} has too many labels to be told apart.`, [
          'Can it be said in several steps?',
        ]);
      return all.flatMap((group) => ways.map((way) => narrowedBy(group, way)));
    },
    [kept],
  );
  return narrowed.map((one, index) => ({ ...one, noun, ...(index === 0 && first) }));
}

/** Whether one label tells it apart, or it is named peer by peer. */
function isSimple({ selector }: Subject): boolean {
  if (selector === undefined || notIn(selector)) return true;
  const { peers, ...more } = selector;
  return peers !== undefined && selectsEveryone(more);
}

/** Nobody is web and not web. */
function isPossible({ selector }: Way, base: Subject): boolean {
  return (selector.matchExpressions ?? []).every(({ key, operator, values = [] }) => {
    const own = base.selector?.matchLabels?.[key];
    return own === undefined || operator !== 'NotIn' || !values.includes(own);
  });
}

/** One way of not being meant by a selector. */
interface Way {
  readonly selector: Selector;
  /** What terms of expectations say of it: any of these. None: the peers by name. */
  readonly terms: readonly string[] | undefined;
  readonly slug: string;
}

/** More than any sentence that is understood has. */
const MAX_WAYS = 8;
const OPPOSITE = { In: 'NotIn', NotIn: 'In', Exists: 'DoesNotExist', DoesNotExist: 'Exists' } as const;

/** Who is not meant by a subject, as ways of which one holds. */
function waysOut({ selector = {}, slug, excepted }: Subject): Way[] {
  const { peers, notPeers, matchLabels, matchExpressions = [] } = selector;
  return [
    ...(peers ? [{ selector: { notPeers: peers }, terms: undefined, slug: `not-${slug}` }] : []),
    ...Object.entries(matchLabels ?? {}).map(
      ([key, value]): Way => ({
        selector: { matchExpressions: [{ key, operator: 'NotIn', values: [value] }] },
        terms: [`${key}!=${value}`],
        slug: `not-${value}`,
      }),
    ),
    ...matchExpressions.map(
      ({ key, operator, values = [] }): Way => ({
        selector: { matchExpressions: [{ key, operator: OPPOSITE[operator], ...(values.length > 0 && { values }) }] },
        terms:
          operator === 'NotIn'
            ? values.map((value) => `${key}=${value}`)
            : operator === 'In'
              ? [values.map((value) => `${key}!=${value}`).join(',')]
              : undefined,
        slug: [operator === 'NotIn' ? '' : 'not', ...values].filter((part) => part !== '').join('-'),
      }),
    ),
    ...(notPeers?.length
      ? [{ selector: { peers: notPeers }, terms: undefined, slug: excepted.map((one) => one.slug).join('-') }]
      : []),
  ];
}

function narrowedBy(base: Subject, way: Way): Subject {
  const own = base.selector ?? {};
  const notPeers = [...(own.notPeers ?? []), ...(way.selector.notPeers ?? [])];
  const matchExpressions = [...(own.matchExpressions ?? []), ...(way.selector.matchExpressions ?? [])];
  const listed = way.selector.peers;
  const peersOfBoth = own.peers && listed ? own.peers.filter((id) => listed.includes(id)) : (own.peers ?? listed);
  const selector: Selector = {
    ...own,
    ...(peersOfBoth && { peers: peersOfBoth }),
    ...(notPeers.length > 0 && { notPeers: [...new Set(notPeers)] }),
    ...(matchExpressions.length > 0 && { matchExpressions }),
  };
  const peers = base.peers.filter((peer) => selects(selector, peer));
  const byName = way.terms === undefined || selector.peers !== undefined;
  const terms = byName
    ? peers.map(({ name }) => name)
    : base.terms.flatMap((term) => (way.terms ?? []).map((more) => (term === '*' ? more : `${term},${more}`)));
  return {
    ...base,
    everyone: false,
    selector,
    entries: [{ peerSelector: selector }],
    outsiders: [],
    peers,
    // A term that means nobody proves nothing.
    terms: peers.length === 0 ? [] : terms,
    slug: `${base.slug}-${way.slug}`,
    excepted: [],
  };
}

/** Without those that one label tells apart, or that are named one by one. */
function withoutSimple(base: Subject, own: Selector, excepted: readonly Subject[]): Subject {
  if (excepted.length === 0) return base;
  const values = new Map<string, string[]>();
  const listed: PeerRecord[] = [];
  for (const one of excepted) {
    const found = one.selector && notIn(one.selector);
    if (found) values.set(found.key, [...(values.get(found.key) ?? []), found.value]);
    else listed.push(...oneByOne(one));
  }
  const matchExpressions = [...values].map(([key, list]) => ({ key, operator: 'NotIn' as const, values: list }));
  const notPeers = [...(own.notPeers ?? []), ...listed.map(({ uid }) => uid)];
  const selector: Selector = {
    ...own,
    ...(notPeers.length > 0 && { notPeers: [...new Set(notPeers)] }),
    ...(matchExpressions.length > 0 && { matchExpressions: [...(own.matchExpressions ?? []), ...matchExpressions] }),
  };
  const left = new Set(excepted.flatMap(({ peers }) => peers.map(({ name }) => name)));
  const peers = base.peers.filter(({ name }) => !left.has(name));
  const requirements = [
    ...[...values].flatMap(([key, list]) => list.map((value) => `${key}!=${value}`)),
    ...listed.map(({ name }) => `!${name}`),
  ];
  return {
    ...base,
    everyone: false,
    selector,
    entries: [{ peerSelector: selector }],
    peers,
    terms: peers.length === 0 ? [] : base.terms.map((term) => [term, ...requirements].filter((t) => t !== '*').join()),
    slug: `${base.slug}-but-${excepted.map(({ slug }) => slug).join('-')}`,
  };
}

/** The one label that a selector asks for, when it asks for one label only. */
function notIn({ matchLabels, ...more }: Selector): { key: string; value: string } | undefined {
  const [only, second] = Object.entries(matchLabels ?? {});
  return only && !second && selectsEveryone(more) ? { key: only[0], value: only[1] } : undefined;
}

/** @throws Refusal for who no policy can name. */
function oneByOne(subject: Subject): readonly PeerRecord[] {
  if (subject.peers.length > MAX_SINGLED || !subject.selector?.peers) {
    throw new Refusal(`${quoted(subject.noun)} cannot be left out: no single label means it.`, [
      'Which label do those that are left out have in common?',
    ]);
  }
  return subject.peers;
}

/** Whether two subjects mean the same peers today. */
export function samePeers(a: Subject, b: Subject): boolean {
  const names = new Set(a.peers.map(({ name }) => name));
  return a.peers.length === b.peers.length && b.peers.every(({ name }) => names.has(name));
}
