import { lazily } from '../base/lazily.ts';
import type { Change } from '../base/ports.ts';
import { type Effect, type EffectSide, effectOf } from '../effect/effect.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { beginsOf, stateAt } from '../state/begins.ts';
import { afterCommit, type NetworkState, writtenPolicies } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import { expiryViews, haveSameViews } from './expiry-views.ts';
import type { JoinGrant } from './label-sets.ts';
import { type Joined, withNewcomers } from './newcomers.ts';
import { type Comparison, comparedAt } from './state-after.ts';

/** Connections that an effect opens and closes. */
export type Connections = Pick<Effect, 'groups' | 'outside'>;

/** The opened or closed connections of a change in future views, which the present peers do not show. */
export interface FutureSide {
  /** The change with those in it who may join later, and then as it may show once policies have ended. */
  readonly views: readonly Comparison[];
  /** Names what opens, or closes, in any of it beside what does now; empty where nothing does. */
  readonly digest: string;
}

/** Effects of a change that the peers of today do not show. */
export interface Future extends Readonly<Record<EffectSide, FutureSide>> {
  /** Devices that may join later, by name, as sentences call them; undefined where there are too many to try. */
  readonly newcomers: Joined['newcomers'] | undefined;
}

interface Facts {
  readonly joins: readonly JoinGrant[];
  /** True where a person writes or approves it: its policies then outlast the agents that wrote them. */
  readonly isPersons: boolean;
}

/**
 * Computes what a change opens and closes later and for future peers, for every judgement and every view of it. Computes a
 * side when it is read.
 */
export function futureOf(
  whole: Comparison,
  { joins, isPersons }: Facts,
  states: Pick<NetworkStates, 'reachability'>,
): Future {
  const change = isPersons ? { ...whole, after: withoutAuthors(whole) } : whole;
  const { before, after, now } = change;
  const isTouched = (['peers', 'policies', 'waiting', 'networks'] as const).some(
    (kind) => before[kind] !== after[kind],
  );
  if (!isTouched) return UNTOUCHED;
  const joined = withThoseJoining(change, joins);
  const first = joined ? withJoined(joined, now, states) : change;
  // At each later begin of policies too, whether or not the change is about them: what it opens, or leaves open, then.
  const all = [
    first,
    ...beginsOf(first.before, first.after)
      .filter((at) => at > now)
      .map((at) => comparedAt(first.before, first.after, at, states)),
  ];
  const viewsOf = (side: EffectSide) => [...all, ...all.flatMap((one) => [...expiryViews(one, side, states)])];
  const isKnown = joined !== undefined;
  const opened = lazily(() => aheadIn(viewsOf('opened'), { change, side: 'opened', isKnown }));
  const closed = lazily(() => {
    const views = all.every(haveSameViews) ? opened().views : viewsOf('closed');
    return aheadIn(views, { change, side: 'closed', isKnown });
  });
  return {
    newcomers: joined?.newcomers,
    get opened() {
      return opened();
    },
    get closed() {
      return closed();
    },
  };
}

/** Tells whether policies begin in a future. */
export function begins({ opened: { views } }: Pick<Future, 'opened'>): boolean {
  return views.some(({ now }) => now !== views[0]?.now);
}

const UNTOUCHED: Future = {
  opened: { views: [], digest: '' },
  closed: { views: [], digest: '' },
  newcomers: new Map(),
};

interface Side {
  readonly change: Comparison;
  readonly side: EffectSide;
  /** True where the devices that may join later could be tried. */
  readonly isKnown: boolean;
}

function aheadIn(views: readonly Comparison[], { change: { effect: shown }, side, isKnown }: Side): FutureSide {
  return {
    views,
    get digest() {
      const digests = new Set(views.map(({ effect }) => effect[`${side}Digest`]));
      digests.delete(shown[`${side}Digest`]);
      return [...(isKnown ? [] : ['unknown']), ...[...digests].sort()].join(' ');
    },
  };
}

function withoutAuthors({ before, after }: Comparison): NetworkState {
  const old = writtenPolicies(before);
  const changes = [...writtenPolicies(after).values()].flatMap((record): Change[] => {
    const { [WRITTEN_BY]: author, ...annotations } = record.annotations;
    const isSame = author === undefined || sameValue(old.get(record.name)?.spec, record.spec);
    return isSame ? [] : [{ type: 'updated', record: { ...record, annotations }, before: record }];
  });
  return changes.length === 0 ? after : afterCommit(after, { revision: after.revision + 1, changes });
}

/** The policies that begin later tell devices apart too. */
function withThoseJoining({ before, after }: Comparison, joins: readonly JoinGrant[]): Joined | undefined {
  const last = (state: NetworkState) => stateAt(state, Number.POSITIVE_INFINITY);
  const joined = withNewcomers({ before: last(before), after: last(after) }, joins);
  const asOfNow = (state: NetworkState, { policies, waiting }: NetworkState) => ({ ...state, policies, waiting });
  return joined && { ...joined, before: asOfNow(joined.before, before), after: asOfNow(joined.after, after) };
}

function withJoined({ before, after }: Joined, now: number, states: Pick<NetworkStates, 'reachability'>): Comparison {
  const [was, is] = [states.reachability(before, now), states.reachability(after, now)];
  return { before, after, was, is, effect: effectOf(was, is), now };
}

/** Returns the connections among current peers, without peers that the change deletes. */
export function amongCurrentPeers({ effect, after }: View, newcomers: ReadonlyMap<string, string>): Connections {
  const those = only((name) => !newcomers.has(name) && after.peers.has(name));
  return between(effect, those);
}

/** Returns the part of one side that involves future peers. */
export function withFuturePeers(
  { effect, after }: View,
  side: EffectSide,
  newcomers: ReadonlyMap<string, string>,
): Connections {
  const isNew = (name: string) => newcomers.has(name);
  const { groups, outside } = effect;
  const theirs = {
    groups: groups.filter((group) => group[side].length > 0 && (group.src.some(isNew) || group.dst.some(isNew))),
    outside: outside?.filter((group) => group[side].length > 0 && group.peers.some(isNew)),
  };
  return between(
    theirs,
    only((name) => after.peers.has(name)),
  );
}

type View = Pick<Comparison, 'effect' | 'after'>;
type Left = (names: readonly string[]) => readonly string[];

function between({ groups, outside }: Connections, left: Left): Connections {
  return {
    groups: groups.flatMap((group) => {
      const [src, dst] = [left(group.src), left(group.dst)];
      return src.length > 0 && dst.length > 0 ? [{ ...group, src, dst }] : [];
    }),
    outside: outside?.flatMap((group) => {
      const peers = left(group.peers);
      return peers.length > 0 ? [{ ...group, peers }] : [];
    }),
  };
}

/** The same list for the same list. */
function only(isLeft: (name: string) => boolean): Left {
  const known = new Map<readonly string[], readonly string[]>();
  return (names) => {
    const left = known.get(names) ?? names.filter(isLeft);
    known.set(names, left);
    return left;
  };
}
