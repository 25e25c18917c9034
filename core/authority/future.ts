import type { Change } from '../base/ports.ts';
import { type Effect, effectOf } from '../effect/effect.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import { afterCommit, type NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import type { Compared } from './excess.ts';
import { laterViews } from './later.ts';
import { type Joined, type Joins, joinedLater } from './newcomers.ts';

/** What of an effect is shown or looked at. */
export type Opening = Pick<Effect, 'groups' | 'outside'>;

/** What becomes of a change that its effect on the peers of today does not show. */
export interface Future {
  /** The change with those in it who may join later, and then as it may show once policies have ended. */
  readonly views: readonly Compared[];
  /** Who may join later, by name, as sentences call them; undefined where these are too many to try. */
  readonly newcomers: Joined['newcomers'] | undefined;
  /** Names what opens in any of it beside what opens now; empty where nothing does. */
  readonly digest: string;
}

interface Facts {
  readonly joins: readonly Joins[];
  /** Whether a person writes it or approves it by themselves: what agents wrote of it then lasts longer than they do. */
  readonly isPersons: boolean;
}

/** The one look at what a change opens later and to others, behind every judgement of it and whatever is shown of it. */
export function futureOf(
  whole: Compared,
  { joins, isPersons }: Facts,
  states: Pick<NetworkStates, 'reachability'>,
): Future {
  const change = isPersons ? { ...whole, after: withoutAuthors(whole) } : whole;
  const { before, after, now, effect } = change;
  const isTouched = (['peers', 'policies', 'networks'] as const).some((kind) => before[kind] !== after[kind]);
  if (!isTouched) return { views: [], newcomers: new Map(), digest: '' };
  const joined = joinedLater(change, joins);
  const first = joined ? withJoined(joined, now, states) : change;
  const views = [first, ...laterViews(first, states)];
  const shown = effect.openedDigest;
  const others = new Set(views.map((view) => view.effect.openedDigest).filter((digest) => digest !== shown));
  return {
    views,
    newcomers: joined?.newcomers,
    digest: [...(joined ? [] : ['unknown']), ...[...others].sort()].join(' '),
  };
}

function withoutAuthors({ before, after }: Compared): NetworkState {
  const changes = [...after.policies.values()].flatMap((record): Change[] => {
    const { [WRITTEN_BY]: author, ...annotations } = record.annotations;
    const isSame = author === undefined || sameValue(before.policies.get(record.name)?.spec, record.spec);
    return isSame ? [] : [{ type: 'updated', record: { ...record, annotations }, before: record }];
  });
  return changes.length === 0 ? after : afterCommit(after, { revision: after.revision + 1, changes });
}

function withJoined({ before, after }: Joined, now: number, states: Pick<NetworkStates, 'reachability'>): Compared {
  const [was, is] = [states.reachability(before, now), states.reachability(after, now)];
  return { before, after, was, is, effect: effectOf(was, is), now };
}

/** What an effect opens between those that are there. */
export function ofThose({ groups, outside }: Opening, newcomers: ReadonlyMap<string, string>): Opening {
  const those = leavingOut(newcomers);
  return {
    groups: groups.flatMap((group) => {
      const [src, dst] = [those(group.src), those(group.dst)];
      return src.length > 0 && dst.length > 0 ? [{ ...group, src, dst }] : [];
    }),
    outside: outside?.flatMap((group) => {
      const peers = those(group.peers);
      return peers.length > 0 ? [{ ...group, peers }] : [];
    }),
  };
}

/** What it opens for those that are not. */
export function ofNewcomers({ groups, outside }: Opening, newcomers: ReadonlyMap<string, string>): Opening {
  const isNew = (name: string) => newcomers.has(name);
  return {
    groups: groups.filter(({ src, dst, opened }) => opened.length > 0 && (src.some(isNew) || dst.some(isNew))),
    outside: outside?.filter(({ peers, opened }) => opened.length > 0 && peers.some(isNew)),
  };
}

/** The same list for the same list. */
function leavingOut(newcomers: ReadonlyMap<string, string>): (names: readonly string[]) => readonly string[] {
  const known = new Map<readonly string[], readonly string[]>();
  return (names) => {
    const left = known.get(names) ?? names.filter((name) => !newcomers.has(name));
    known.set(names, left);
    return left;
  };
}
