import { parseInstant } from '../base/time.ts';
import { type EffectSide, effectOf } from '../effect/effect.ts';
import { POLICY_LIMITS, type PolicySpec, type Rule } from '../model/policy.ts';
import { isolates } from '../model/policy-match.ts';
import type { PolicyRecord } from '../model/resources.ts';
import { selects } from '../model/selector.ts';
import { sameValue } from '../model/value.ts';
import { WRITTEN_BY } from '../model/written-by.ts';
import type { NetworkState } from '../state/state.ts';
import type { NetworkStates } from '../state/states.ts';
import type { Comparison } from './state-after.ts';

type Direction = Rule['direction'];
const DIRECTIONS = ['ingress', 'egress'] as const satisfies readonly Direction[];

/**
 * Outcomes of policies that end, in one direction: they stand, have ended, or some have ended and those that
 * remain isolate and let nobody in.
 */
const OUTCOMES = ['stand', 'ended', 'closed'] as const;
type Outcome = (typeof OUTCOMES)[number];

/** The views of one change at most: by direction, by the outcome of others' policies and by that of its own. */
export const MAX_VIEWS = DIRECTIONS.length * OUTCOMES.length * OUTCOMES.length;

/**
 * The same change as it may show later, when some policies have ended: by their time, or with the agents that wrote them,
 * in whichever order. What such a policy covers today must not be opened under it unseen.
 *
 * There are far too many orders to try each, and no need to. A connection opens later by the change where it is open then
 * with the change and closed without it. It is closed without it by a DENY that the change takes away, or because one
 * direction, of source or target, is closed. So each view looks at one direction, with the policies that end standing,
 * ended, or closing there; in the other one they are as wide as they ever get: what they open stays, while they close
 * nothing any more. DENYs that end have ended. Nothing that can open is missed, whatever the number of ends; where the same
 * policy would have to stand in one direction and to be gone in the other, more may be shown.
 *
 * @param side what the views miss nothing of. What a change closes is what opens by its reverse.
 */
export function* expiryViews(
  { before, after, now }: Pick<Comparison, 'before' | 'after' | 'now'>,
  side: EffectSide,
  states: Pick<NetworkStates, 'reachability'>,
): Generator<Comparison> {
  const [closed, open] = side === 'opened' ? [before, after] : [after, before];
  const pairs = pairsOf(closed, open, now);
  if (!pairs.some(({ old, next }) => old?.end || next?.end)) return;
  const ownEnd =
    Math.max(...pairs.map(({ isOwn, old }) => (isOwn && old ? (old.end?.at ?? LASTING) : 0)), 0) || LASTING;
  for (const direction of directionsOf(pairs)) {
    for (const own of ownOutcomes(pairs)) {
      for (const others of othersOutcomes(pairs, direction)) {
        const view: View = { direction, own, others, until: own === 'ended' ? LASTING : ownEnd };
        const [shut, wide] = [stateIn(view, closed, pairs, 'old'), stateIn(view, open, pairs, 'next')];
        const [old, next] = side === 'opened' ? [shut, wide] : [wide, shut];
        const [was, is] = [states.reachability(old, now), states.reachability(next, now)];
        yield { before: old, after: next, was, is, effect: effectOf(was, is), now };
      }
    }
  }
}

/** Tells whether both sides have the same views: where no policy that the change writes or deletes ends. */
export function haveSameViews({ before, after, now }: Pick<Comparison, 'before' | 'after' | 'now'>): boolean {
  return !pairsOf(before, after, now).some(({ isOwn, old, next }) => isOwn && (old?.end || next?.end));
}

interface View {
  readonly direction: Direction;
  /** Outcome of the policies that the change alters or deletes. */
  readonly own: Outcome;
  readonly others: Outcome;
  /** Until when a policy of the change itself stands that it alters: by then others have ended only by an earlier time. */
  readonly until: number;
}

const LASTING = Number.POSITIVE_INFINITY;

interface End {
  /** ms */
  readonly at: number;
  /** The agent that ends at any time, and the policy with it. */
  readonly author: string | undefined;
}

interface Version {
  readonly record: PolicyRecord;
  /** Undefined where it lasts. */
  readonly end: End | undefined;
}

/** A policy before and after the change. */
interface PolicyPair {
  readonly old: Version | undefined;
  readonly next: Version | undefined;
  /** True where the change writes it. */
  readonly isOwn: boolean;
  /** True where both versions end together. */
  readonly isOneEnd: boolean;
  /** True where the old version is the same as the next one and stands whenever that does. */
  readonly isOutlasting: boolean;
}

function pairsOf(before: NetworkState, after: NetworkState, now: number): PolicyPair[] {
  const names = new Set([...before.policies.keys(), ...after.policies.keys()]);
  return [...names].map((name): PolicyPair => {
    const [old, next] = [versionOf(before.policies.get(name), now), versionOf(after.policies.get(name), now)];
    const isOneEnd = old !== undefined && next !== undefined && sameValue(old.end, next.end);
    const isOwn = !(isOneEnd && sameValue(old.record.spec, next.record.spec));
    return { old, next, isOneEnd, isOwn, isOutlasting: outlasts(old, next) };
  });
}

function outlasts(old: Version | undefined, next: Version | undefined): boolean {
  if (!old || !next || (old.end?.at ?? LASTING) < (next.end?.at ?? LASTING)) return false;
  const { author } = old.end ?? {};
  if (author !== undefined && author !== next.end?.author) return false;
  return sameValue({ ...old.record.spec, expiresAt: undefined }, { ...next.record.spec, expiresAt: undefined });
}

function versionOf(record: PolicyRecord | undefined, now: number): Version | undefined {
  if (!record) return undefined;
  const author = record.annotations[WRITTEN_BY];
  const at = record.spec.expiresAt === undefined ? LASTING : parseInstant(record.spec.expiresAt);
  if (at <= now) return undefined;
  return { record, end: author === undefined && at === LASTING ? undefined : { at, author } };
}

/** Directions in which policies that end decide; one where DENYs alone end. */
function directionsOf(pairs: readonly PolicyPair[]): readonly Direction[] {
  const found = DIRECTIONS.filter((direction) =>
    pairs.some(({ old, next }) => [old, next].some((one) => one?.end && isolates(one.record.spec, direction))),
  );
  return found.length > 0 ? found : ['ingress'];
}

function othersOutcomes(pairs: readonly PolicyPair[], direction: Direction): readonly Outcome[] {
  const isAny = pairs.some(({ isOwn, old }) => !isOwn && old?.end && isolates(old.record.spec, direction));
  return isAny ? OUTCOMES : ['stand'];
}

function ownOutcomes(pairs: readonly PolicyPair[]): readonly Outcome[] {
  const count = pairs.filter(({ isOwn, old }) => isOwn && old?.end).length;
  // A single policy cannot both have ended and remain.
  return count > 1 ? OUTCOMES : count === 1 ? ['stand', 'ended'] : ['stand'];
}

function stateIn(view: View, state: NetworkState, pairs: readonly PolicyPair[], side: 'old' | 'next'): NetworkState {
  const kept: PolicyRecord[] = [];
  const widened: PolicyRecord[] = [];
  for (const pair of pairs) {
    const version = pair[side];
    if (!version) continue;
    const { standing, opening } = pieces(version, outcomesOf(view, pair, side), view.direction);
    if (standing) kept.push(standing);
    if (opening) widened.push(opening);
  }
  const base = { ...state, policies: mapOf(kept) };
  return { ...base, policies: mapOf([...kept, ...widened.flatMap((record) => openingsOf(record, base))]) };
}

type WiderOutcome = Outcome | 'widest';

interface Outcomes {
  readonly deny: 'stand' | 'ended';
  readonly here: WiderOutcome;
  readonly there: WiderOutcome;
}

const STANDS: Outcomes = { deny: 'stand', here: 'stand', there: 'stand' };

function outcomesOf({ own, others, until }: View, pair: PolicyPair, side: 'old' | 'next'): Outcomes {
  const { end } = pair[side] ?? {};
  if (!end) return STANDS;
  const isAltered = pair.isOwn && (side === 'old' || pair.isOneEnd);
  if (!isAltered && end.author === undefined && end.at >= until) return STANDS;
  if (!pair.isOwn) return { deny: 'ended', here: others, there: 'widest' };
  // The old version opens the same, for as long as the next one.
  if (side === 'next' && pair.isOutlasting) return { deny: 'ended', here: 'ended', there: 'widest' };
  // Some of the altered policies have ended, and their next versions close nothing then.
  if (!isAltered || (side === 'next' && own === 'closed')) return { deny: 'ended', here: 'widest', there: 'widest' };
  return { deny: own === 'ended' ? 'ended' : 'stand', here: own, there: 'widest' };
}

/** Returns the part of a policy that stands, and the part that opens without closing anything. */
function pieces({ record }: Version, { deny, here, there }: Outcomes, direction: Direction) {
  const { spec } = record;
  const isSilent = spec.ingress === undefined && spec.egress === undefined;
  const { ingress, egress, ...rest } = { ...spec, ...(isSilent && { ingress: [], egress: [] }) };
  const rules = { ingress, egress };
  const standing: Partial<Record<Direction, PolicySpec[Direction]>> = {};
  const opening: Partial<Record<Direction, PolicySpec[Direction]>> = {};
  for (const one of DIRECTIONS) {
    if (rules[one] === undefined) continue;
    const outcome = isolates(spec, one) ? (one === direction ? here : there) : deny;
    if (outcome === 'stand') standing[one] = rules[one];
    else if (outcome === 'closed') standing[one] = [];
    else if (outcome === 'widest' && spec.action === 'ALLOW') opening[one] = rules[one];
  }
  const of = (some: Pick<PolicySpec, Direction>) =>
    Object.keys(some).length > 0 ? { ...record, spec: { ...rest, ...some } } : undefined;
  return { standing: of(standing), opening: of(opening) };
}

/** Returns what a policy opens to the peers that others isolate: a peer that is not isolated is open anyway. */
function openingsOf(record: PolicyRecord, state: NetworkState): PolicyRecord[] {
  const { name, spec } = record;
  const subjects = [...state.peers.values()].filter(
    (peer) => selects(spec.peerSelector ?? {}, peer) && (spec.network ?? peer.spec.network) === peer.spec.network,
  );
  const isolators = [...state.policies.values()];
  return DIRECTIONS.flatMap((direction) => {
    if (!spec[direction]?.length) return [];
    const isolated = subjects.filter(
      (peer) =>
        state.networks.get(peer.spec.network)?.spec.defaultAction === 'DENY' ||
        isolators.some(
          ({ spec: other }) =>
            isolates(other, direction) &&
            (other.network ?? peer.spec.network) === peer.spec.network &&
            selects(other.peerSelector ?? {}, peer),
        ),
    );
    const { ingress: _in, egress: _out, ...rest } = spec;
    return chunksOf(isolated, POLICY_LIMITS.peersPerSelector).map((peers, index) => {
      const only = { peerSelector: { peers: peers.map(({ uid }) => uid) }, [direction]: spec[direction] };
      // A space is in no name of a policy.
      return { ...record, name: `${name} ${direction} ${index}`, spec: { ...rest, ...only } };
    });
  });
}

function chunksOf<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}

function mapOf(records: readonly PolicyRecord[]): NetworkState['policies'] {
  return new Map(records.map((record) => [record.name, record]));
}
