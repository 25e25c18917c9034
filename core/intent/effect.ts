import { createHash } from 'node:crypto';
import { diffGroups } from '../reachability/diff.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { type PortSpan, spansOf, subtract } from './port-spans.ts';

/** Connections that change alike: every `src` to every `dst` other than itself. */
export interface EffectGroup {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** Ordered pairs of different peers in the group. */
  readonly pairs: number;
  readonly opened: readonly PortSpan[];
  readonly closed: readonly PortSpan[];
}

/** What a change of the network opens and closes, whole; nothing is left out. */
export interface Effect {
  readonly groups: readonly EffectGroup[];
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
}

/** Compares who may reach whom before and after. Both must be compiled for the same instant. */
export function effectOf(before: Reachability, after: Reachability): Effect {
  const groups: EffectGroup[] = [];
  const counts = { opened: 0, closed: 0, changed: 0, lost: 0 };
  for (const { type, src, dst, old, new: now } of diffGroups(before, after)) {
    const targets = new Set(dst);
    const pairs = src.length * dst.length - src.filter((name) => targets.has(name)).length;
    if (pairs === 0) continue;
    const [was, is] = [spansOf(old), spansOf(now)];
    const [opened, closed] = [subtract(is, was), subtract(was, is)];
    if (opened.length > 0) counts.opened += pairs;
    if (closed.length > 0) counts.closed += pairs;
    if (type !== 'added') counts.changed += pairs;
    if (type === 'removed') counts.lost += pairs;
    groups.push({ src, dst, pairs, opened, closed });
  }
  const pairsBefore = before.countPairs();
  return {
    groups,
    openedPairs: counts.opened,
    closedPairs: counts.closed,
    unchangedPairs: pairsBefore - counts.changed,
    pairsBefore,
    lostPairs: counts.lost,
    digest: digestOf(groups, marker(after, before)),
  };
}

type Marker = (name: string) => bigint;

/** Policies may come to tell peers apart that change alike, so what is hashed is each peer's own list, not the groups. */
function digestOf(groups: readonly EffectGroup[], markOf: Marker): string {
  const lists = new Map<string, bigint>();
  for (const { src, dst, opened, closed } of groups) {
    const sum = dst.reduce((total, name) => total + markOf(name), 0n);
    const targets = new Set(dst);
    const delta = JSON.stringify([opened, closed]);
    for (const name of src) {
      const key = `${markOf(name).toString(36)} ${delta}`;
      lists.set(key, (lists.get(key) ?? 0n) + sum - (targets.has(name) ? markOf(name) : 0n));
    }
  }
  const lines = [...lists].map(([key, sum]) => `${key} ${sum.toString(36)}`).sort();
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

/** A name may pass from one peer to another: what is hashed is the peer itself. Marks are summed, so order is nothing. */
function marker(...models: readonly Reachability[]): Marker {
  const uids = new Map<string, string>();
  for (const { model } of models.toReversed()) for (const { name, uid } of model.peers) uids.set(name, uid ?? '');
  const marks = new Map<string, bigint>();
  return (name) => {
    const known = marks.get(name);
    if (known !== undefined) return known;
    const hash = createHash('sha256')
      .update(`${name} ${uids.get(name) ?? ''}`)
      .digest('hex');
    const mark = BigInt(`0x${hash}`);
    marks.set(name, mark);
    return mark;
  };
}
