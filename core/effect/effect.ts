import { createHash } from 'node:crypto';
import { lazily } from '../base/lazily.ts';
import { countPairs } from '../reachability/matrix.ts';
import { textOfRanges } from '../reachability/outside.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { connectionChanges, type EffectGroup, type OutsideEffect } from './connection-changes.ts';
import { type RouteChange, routesOf } from './routes.ts';

export type EffectSide = 'opened' | 'closed';
const SIDES = ['opened', 'closed'] as const satisfies readonly EffectSide[];

/** Everything that a change of the network opens and closes. */
export interface Effect {
  /** Blocks that nodes route into their tunnel from then on. */
  readonly routes: readonly RouteChange[];
  /** Between peers. */
  readonly groups: readonly EffectGroup[];
  /** Between peers and addresses that are no peer's; undefined where those are too many to be told. */
  readonly outside: readonly OutsideEffect[] | undefined;
  /** Ordered pairs of peers between which something opens or closes. */
  readonly openedPairs: number;
  readonly closedPairs: number;
  /** Ordered pairs that may talk before and after alike. */
  readonly unchangedPairs: number;
  /** Ordered pairs that may talk before. */
  readonly pairsBefore: number;
  /** Ordered pairs that may talk before and not at all after. */
  readonly lostPairs: number;
  /** The same for the same effect on the same peers, however policies group them. */
  readonly digest: string;
  /** The same of what it opens alone, and of what it closes. */
  readonly openedDigest: string;
  readonly closedDigest: string;
}

/** Compares who may reach whom before and after. Both must be compiled for the same instant. What is not read is not made. */
export function effectOf(before: Reachability, after: Reachability): Effect {
  const groups: EffectGroup[] = [];
  const counts = { opened: 0, closed: 0, changed: 0, lost: 0 };
  const markOf = marker(after, before);
  const digest = digester(markOf);
  const sides = { opened: digester(markOf), closed: digester(markOf) };
  const changes = connectionChanges(before, after);
  for (const { type, within, text, ...group } of changes.groups()) {
    const { src, dst, pairs, opened, closed } = group;
    if (opened.length > 0) counts.opened += pairs;
    if (closed.length > 0) counts.closed += pairs;
    if (type !== 'added') counts.changed += pairs;
    if (type === 'removed') counts.lost += pairs;
    groups.push(group);
    digest.add(src, dst, within, text);
    for (const side of SIDES) {
      if (group[side].length > 0) sides[side].add(src, dst, within, JSON.stringify(group[side]));
    }
  }
  const pairsBefore = countPairs(before);
  const outside = lazily(changes.outside);
  const digestOf = (side: EffectSide) => {
    const changed = outside()?.flatMap((group) =>
      group[side].length > 0 ? [{ ...group, ...NOTHING, [side]: group[side] }] : [],
    );
    return sides[side].end(changed ?? []) + (changed ? '' : '?');
  };
  const routes = lazily(() => routesOf(before.model, after.model));
  return {
    get routes() {
      return routes();
    },
    groups,
    get outside() {
      return outside();
    },
    openedPairs: counts.opened,
    closedPairs: counts.closed,
    unchangedPairs: pairsBefore - counts.changed,
    pairsBefore,
    lostPairs: counts.lost,
    get digest() {
      return digest.end(outside() ?? []);
    },
    get openedDigest() {
      return digestOf('opened');
    },
    get closedDigest() {
      return digestOf('closed');
    },
  };
}

const NOTHING = { opened: [], closed: [] } as const;

/** Returns what of an effect opens and closes at one peer. */
export function effectOnPeer({ groups, outside }: Pick<Effect, 'groups' | 'outside'>, name: string) {
  const alone = [name];
  const own = groups.flatMap((group): EffectGroup[] => {
    const { src, dst } = group;
    const [from, to] = [src, dst].map((names) => names.filter((one) => one !== name)) as [string[], string[]];
    return [
      ...(from.length < src.length && to.length > 0 ? [{ ...group, src: alone, dst: to, pairs: to.length }] : []),
      ...(to.length < dst.length && from.length > 0 ? [{ ...group, src: from, dst: alone, pairs: from.length }] : []),
    ];
  });
  const pairsOf = (side: EffectSide) => own.reduce((sum, one) => sum + (one[side].length > 0 ? one.pairs : 0), 0);
  return {
    groups: own,
    outside: outside?.flatMap((one) => (one.peers.includes(name) ? [{ ...one, peers: alone }] : [])),
    openedPairs: pairsOf('opened'),
    closedPairs: pairsOf('closed'),
  };
}

/** Pairs of a peer and a term of addresses between which something opens or closes. */
export function outsidePairs({ outside = [] }: Pick<Effect, 'outside'>, of: EffectSide): number {
  return outside.reduce((sum, group) => sum + (group[of].length > 0 ? group.names.length * group.peers.length : 0), 0);
}

/** Everyone on some side of some group. */
export function namesOn(groups: readonly EffectGroup[], ...sides: readonly ('src' | 'dst')[]): Set<string> {
  const lists = new Set<readonly string[]>();
  for (const group of groups) for (const side of sides) lists.add(group[side]);
  const names = new Set<string>();
  for (const list of lists) for (const name of list) names.add(name);
  return names;
}

/** A peer as a number that can be summed, and as text. */
interface Mark {
  readonly value: bigint;
  readonly hex: string;
}
type Marker = (name: string) => Mark;

/** Policies may come to tell peers apart that change alike, so what is hashed is each peer's own list, not the groups. */
function digester(markOf: Marker) {
  const sums = new Map<readonly string[], bigint>();
  const lists = new Map<readonly string[], Map<string, { sum: bigint; readonly own: (readonly string[])[] }>>();

  function sumOf(names: readonly string[]): bigint {
    const known = sums.get(names);
    if (known !== undefined) return known;
    const sum = names.reduce((total, name) => total + markOf(name).value, 0n);
    sums.set(names, sum);
    return sum;
  }

  return {
    add(src: readonly string[], dst: readonly string[], within: boolean, delta: string): void {
      const byDelta = lists.get(src) ?? new Map<string, { sum: bigint; readonly own: (readonly string[])[] }>();
      lists.set(src, byDelta);
      const list = byDelta.get(delta) ?? { sum: 0n, own: [] };
      byDelta.set(delta, list);
      list.sum += sumOf(dst);
      if (within) list.own.push(dst);
    },
    end(outside: readonly OutsideEffect[]): string {
      const byName = new Map<string, bigint>();
      for (const [src, byDelta] of lists) {
        for (const [delta, { sum, own }] of byDelta) {
          const selves = new Set(own.flat());
          for (const name of src) {
            const { hex, value } = markOf(name);
            const key = `${hex} ${delta}`;
            byName.set(key, (byName.get(key) ?? 0n) + sum - (selves.has(name) ? value : 0n));
          }
        }
      }
      const lines = [...byName].map(([key, sum]) => `${key} ${sum.toString(16)}`);
      for (const { side, ranges, peers, opened, closed } of outside) {
        const rest = `${side} ${textOfRanges(ranges)} ${JSON.stringify([opened, closed])}`;
        for (const name of peers) lines.push(`${markOf(name).hex} ${rest}`);
      }
      lines.sort();
      return createHash('sha256').update(lines.join('\n')).digest('hex');
    },
  };
}

/**
 * Hashes the id of a peer, not its name: a name may pass from one peer to another, and a device that renames itself does not
 * change the effect. Marks are summed, so order does not count.
 */
function marker(...models: readonly Reachability[]): Marker {
  const uids = new Map<string, string>();
  for (const { model } of models.toReversed()) for (const { name, uid } of model.peers) uids.set(name, uid ?? name);
  const marks = new Map<string, Mark>();
  return (name) => {
    const known = marks.get(name);
    if (known !== undefined) return known;
    const hex = createHash('sha256')
      .update(uids.get(name) ?? name)
      .digest('hex');
    const mark = { value: BigInt(`0x${hex}`), hex };
    marks.set(name, mark);
    return mark;
  };
}
