import { type OutsideGroup, outsideGroups } from '../reachability/outside.ts';
import { type AllowedPorts, tooManyPorts } from '../reachability/port-sets.ts';
import { type DiffGroup, diffGroups } from '../reachability/reach-diff.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { type PortSpan, spansOf, subtract } from './port-spans.ts';

/** Connections that change alike: every `src` to every `dst` other than itself. */
export interface EffectGroup {
  /** Groups share one array for one set of peers, here and in `dst`, so that facts on a set are computed once. */
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** Ordered pairs of different peers in the group. */
  readonly pairs: number;
  readonly opened: readonly PortSpan[];
  readonly closed: readonly PortSpan[];
  /** All that is open afterwards. */
  readonly open: readonly PortSpan[];
}

/** The same of peers and addresses that are no peer's. */
export interface OutsideEffect
  extends Omit<OutsideGroup<unknown>, 'delta'>,
    Pick<EffectGroup, 'opened' | 'closed' | 'open'> {}

/** An {@link EffectGroup} as it is compared. */
export interface ConnectionChange extends EffectGroup, Pick<DiffGroup, 'type' | 'within'> {
  /** Equal for equal ports opened and closed. */
  readonly text: string;
}

/** The connections that open and close between two states, compiled for the same instant. */
export interface ConnectionChanges {
  /** Between peers, each group once. */
  groups(): Generator<ConnectionChange>;
  /** Between peers and addresses that are no peer's; undefined where those are too many to be told. */
  outside(): OutsideEffect[] | undefined;
}

/** Compares who may reach whom before and after, lazily. */
export function connectionChanges(before: Reachability, after: Reachability): ConnectionChanges {
  const deltaOf = deltas();
  return {
    *groups() {
      for (const { type, src, dst, within, old, new: now } of diffGroups(before, after)) {
        const pairs = src.length * dst.length - (within ? dst.length : 0);
        if (pairs > 0) yield { type, within, src, dst, pairs, ...deltaOf(old, now) };
      }
    },
    outside: () =>
      outsideGroups(before, after, (old, now) => {
        const delta = deltaOf(old, now);
        return delta.opened.length + delta.closed.length > 0 ? delta : undefined;
      })?.map(({ delta: { opened, closed, open }, ...group }): OutsideEffect => ({ ...group, opened, closed, open })),
  };
}

interface Delta extends Pick<EffectGroup, 'opened' | 'closed' | 'open'> {
  readonly text: string;
}

/** Ranges of ports in all that opens, closes and stays open in one effect, each different change once; some 60 MB. */
export const MAX_EFFECT_RANGES = 250_000;

/**
 * Returns a function of two sets of ports that answers the ports opened and closed, the same object for the same two.
 *
 * @throws MeshError `payload_too_large` for more than {@link MAX_EFFECT_RANGES}
 */
function deltas(): (old: AllowedPorts, now: AllowedPorts) => Delta {
  let ranges = 0;
  const known = new Map<AllowedPorts, Map<AllowedPorts, Delta>>();
  return (old, now) => {
    const of = known.get(old) ?? new Map<AllowedPorts, Delta>();
    known.set(old, of);
    const found = of.get(now);
    if (found) return found;
    const [was, is] = [spansOf(old), spansOf(now)];
    ranges += was.length + is.length;
    if (ranges > MAX_EFFECT_RANGES) throw tooManyPorts();
    const [opened, closed] = [subtract(is, was), subtract(was, is)];
    const delta = { opened, closed, open: is, text: JSON.stringify([opened, closed]) };
    of.set(now, delta);
    return delta;
  };
}
