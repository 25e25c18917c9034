import { invalidInput } from '../base/errors.ts';
import { formatInstant } from '../base/time.ts';
import { rangesOfTerm } from '../model/ranges.ts';
import { nearestOf, notFound } from '../model/with-nearest.ts';
import type { Verdict } from '../reachability/explanation.ts';
import { withExternals } from '../reachability/externals.ts';
import { groupRows } from '../reachability/matrix.ts';
import { outsideRanges, outsideWithin } from '../reachability/outside.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { isGroupTerm, lookUpPeerOrHost, outsideOf, peerNotFound } from '../state/find-peer.ts';
import { groupsOf, termsOf } from '../state/peer-groups.ts';
import type { HistoryServices } from '../state/services.ts';
import type { NetworkState } from '../state/state.ts';
import { namesOf } from '../state/terms.ts';
import { bothOutside, type ConnectivityQuestion } from './connectivity.ts';
import { pointOf, stateAt } from './point.ts';

/** A question with one end open, or about several peers by a label. */
export type GroupQuestion = Omit<ConnectivityQuestion, 'src' | 'dst'> & {
  readonly src?: string | undefined;
  readonly dst?: string | undefined;
  readonly cursor?: string | undefined;
};

/** Peers of `src` that reach peers of `dst`, each as labels and names. */
export interface ReachGroup {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** Ordered pairs of different ends. */
  readonly pairs: number;
  readonly allowed: AllowedPorts;
}

export interface ReachGroups {
  /** Verdict over all pairs of peers asked about: all, some or none of the ports asked for. */
  readonly verdict: Verdict;
  readonly at: string;
  readonly snapshot_id: string | null;
  readonly revision: number;
  /**
   * Pairs of peers asked about, and those of them that may talk. Addresses outside are in neither, but where they are one
   * end: then each range that policies tell apart counts as one.
   */
  readonly asked_pairs: number;
  readonly open_pairs: number;
  /** How many groups there are, of which one page is shown, the largest first. */
  readonly group_count: number;
  readonly groups: readonly ReachGroup[];
  readonly next_cursor?: string;
}

/** Groups of one page. */
const GROUP_PAGE = 50;

/** Returns true if a question is about several peers. */
export function asksGroups<Q extends { readonly src?: string | undefined; readonly dst?: string | undefined }>({
  src,
  dst,
}: Q): boolean {
  return [src, dst].some((end) => end === undefined || (isGroupTerm(end) && !rangesOfTerm(end)));
}

/**
 * Returns who can reach whom, at an instant, a snapshot, or now, by groups of peers that share the ports.
 *
 * @throws MeshError `not_found` for a peer or label that nothing has, and where nothing is known of the instant
 */
export async function reachGroups(
  services: HistoryServices,
  workspace: string,
  question: GroupQuestion,
): Promise<ReachGroups> {
  const { states, clock } = services;
  const point = await pointOf(services, workspace, question);
  const at = point?.instant ?? clock.now();
  const state = point ? await stateAt(services, workspace, point) : await states.current(workspace);
  const compiled = states.reachability(state, at);
  const addresses = addressesAsked(state, question);
  const externals = addresses
    ? outsideWithin(compiled, compiled.parts.endpoints.keys(), addresses.ranges)
    : isOpen(question)
      ? outsideRanges(compiled)
      : [];
  const names = new Set(externals.map(({ name }) => name));
  const endAt = (side: 'src' | 'dst') => (addresses?.side === side ? names : endOf(state, question[side]));
  const ends = { src: endAt('src'), dst: endAt('dst') };
  const reach = externals.length === 0 ? compiled : withExternals(compiled, externals);
  const scope = reach.parts.ports.ofQuery(question.protocol, question.port);
  const whole = JSON.stringify(reach.parts.ports.describe(scope));
  const uncounted = addresses ? new Set<string>() : names;
  const rows = mergedRows(reach, { ...ends, ports: scope });
  const asked = pairsOf(ends.src ?? namesOf('*', state), ends.dst ?? namesOf('*', state));
  const between = rows.filter(({ src, dst }) => ![src[0], dst[0]].some((name) => uncounted.has(name ?? '')));
  const open = between.reduce((sum, { src, dst }) => sum + pairsOf(src, dst), 0);
  const isWhole = between.every(({ allowed }) => JSON.stringify(allowed) === whole);
  const first = firstOf(question.cursor);
  const shown = rows.slice(first, first + GROUP_PAGE);
  return {
    verdict: open === 0 ? 'unreachable' : open === asked && isWhole ? 'reachable' : 'partial',
    at: formatInstant(at),
    snapshot_id: point?.snapshot?.uid ?? null,
    revision: state.revision,
    asked_pairs: asked,
    open_pairs: open,
    group_count: rows.length,
    groups: shown.map(({ src, dst, allowed }) => ({
      src: groupsOf(apartFrom(src, dst), state, dst),
      dst: groupsOf(apartFrom(dst, src), state, src),
      pairs: pairsOf(src, dst),
      allowed,
    })),
    ...(first + shown.length < rows.length && { next_cursor: String(first + shown.length) }),
  };
}

function isOpen({ src, dst }: GroupQuestion): boolean {
  return src === undefined || dst === undefined;
}

/** The side at which the question names addresses outside, and which. */
function addressesAsked(state: NetworkState, question: GroupQuestion) {
  const found = (['src', 'dst'] as const).flatMap((side) => {
    const given = question[side];
    const ranges = given === undefined || lookUpPeerOrHost(state, given) ? undefined : outsideOf(state, given);
    return ranges ? [{ side, ranges }] : [];
  });
  if (found.length > 1) throw bothOutside();
  return found[0];
}

/** The peers at one end; undefined for all, and for addresses outside. */
function endOf(state: NetworkState, given: string | undefined): ReadonlySet<string> | undefined {
  if (given === undefined) return undefined;
  if (!isGroupTerm(given)) {
    const peer = lookUpPeerOrHost(state, given);
    if (!peer) throw peerNotFound(state, given);
    return new Set([peer.name]);
  }
  const names = namesOf(given, state);
  if (names.length > 0) return new Set(names);
  throw notFound(`No peer has ${JSON.stringify(given)}.`, nearestOf(given, termsOf(state.peers.keys(), state)));
}

interface Row {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly allowed: AllowedPorts;
}

/** Rows that share their sources become one, then those that share their targets; the largest first, outside last. */
function mergedRows(reach: Reachability, within: Parameters<typeof groupRows>[1]): Row[] {
  const outside = new Set((reach.model.externals ?? []).map(({ name }) => name));
  const kindOf = (names: readonly string[]) => (outside.has(names[0] ?? '') ? 'outside' : 'peer');
  const bySource = mergeBy([...groupRows(reach, within)], 'src', 'dst', kindOf);
  const merged = mergeBy(bySource, 'dst', 'src', kindOf);
  const isOutside = ({ src, dst }: Row) => Number([src, dst].some((names) => kindOf(names) === 'outside'));
  return merged.sort(
    (a, b) =>
      isOutside(a) - isOutside(b) || pairsOf(b.src, b.dst) - pairsOf(a.src, a.dst) || (keyOf(a) < keyOf(b) ? -1 : 1),
  );
}

function mergeBy(
  rows: readonly Row[],
  same: 'src' | 'dst',
  other: 'src' | 'dst',
  kindOf: (names: readonly string[]) => string,
): Row[] {
  const merged = Map.groupBy(rows, (row) => JSON.stringify([row[same], row.allowed, kindOf(row[other])]));
  return [...merged.values()].flatMap((group) => {
    const [first] = group;
    return first ? [{ ...first, [other]: [...new Set(group.flatMap((row) => row[other]))].sort() }] : [];
  });
}

function keyOf({ src, dst }: Row): string {
  return `${src[0]} ${dst[0]}`;
}

/** A peer that stands alone at one end is none of those at the other. */
export function apartFrom(names: readonly string[], others: readonly string[]): readonly string[] {
  return others.length === 1 ? names.filter((name) => name !== others[0]) : names;
}

function pairsOf(src: Iterable<string>, dst: Iterable<string>): number {
  const [from, to] = [new Set(src), new Set(dst)];
  return from.size * to.size - from.intersection(to).size;
}

function firstOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  if (/^\d{1,9}$/.test(cursor)) return Number(cursor);
  const detail = 'Send next_cursor of the answer before.';
  throw invalidInput([{ pointer: '/cursor', detail }], `/cursor: ${detail}`);
}
