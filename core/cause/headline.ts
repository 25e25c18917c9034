import type { Flip } from '../history/pair/flips.ts';
import type { SoughtChange } from '../history/pair/question-reader.ts';
import type { Reading } from '../history/pair/readings.ts';
import { isWithin } from '../reachability/port-sets.ts';

/**
 * The flip of one connection that answers a question: the last, or first, that opened it; what closed it; else what led to
 * its state at the end of the range. None where nothing of the kind happened.
 *
 * @param flips in order
 * @param isApproved whether a workflow approved what made a flip
 */
export function headlineOf(
  flips: readonly Flip[],
  sought: SoughtChange | undefined,
  isApproved: (flip: Flip) => boolean,
): Flip | undefined {
  if (sought === undefined) return flips.findLast(isOfPorts) ?? flips.at(-1);
  return sought.change === 'opened' ? openingOf(flips, sought, isApproved) : closingOf(flips, sought);
}

/** Returns true if a flip opened a part of a connection; presence counts where ports stayed as they were. */
export function opens({ before, after }: Pick<Flip, 'before' | 'after'>): boolean {
  return isOfPorts({ before, after })
    ? !isWithin(after.reading.allowed, before.reading.allowed)
    : after.reading.usable && !before.reading.usable;
}

export function closes({ before, after }: Pick<Flip, 'before' | 'after'>): boolean {
  return opens({ before: after, after: before });
}

/**
 * Returns the flip that opened the connection. For "who gave access", a policy that allows it comes before the end of a denial,
 * which opens too.
 */
function openingOf(
  flips: readonly Flip[],
  sought: SoughtChange,
  isApproved: (flip: Flip) => boolean,
): Flip | undefined {
  const all = flips.filter(opens);
  const ofPorts = narrowed(all, isOfPorts);
  const approved = sought.isApproved ? narrowed(ofPorts, isApproved) : ofPorts;
  if (sought.isFirst) return approved.at(0);
  return (sought.isGiven ? narrowed(approved, isGrant) : approved).at(-1);
}

/**
 * Returns the flip after which the connection was never as good as before; where it works at the end, the last one that closed
 * it.
 */
function closingOf(flips: readonly Flip[], { isFirst }: SoughtChange): Flip | undefined {
  const closings = flips.filter(closes);
  return isFirst ? closings.at(0) : (rootOf(flips) ?? narrowed(closings, isOfPorts).at(-1));
}

function narrowed(flips: readonly Flip[], test: (flip: Flip) => boolean): readonly Flip[] {
  const found = flips.filter(test);
  return found.length > 0 ? found : flips;
}

/** None where the connection works at the end. */
function rootOf(flips: readonly Flip[]): Flip | undefined {
  let best = Number.NEGATIVE_INFINITY;
  return flips.toReversed().find(({ before, after }) => {
    best = Math.max(best, weightOf(after.reading));
    return best < weightOf(before.reading);
  });
}

function weightOf({ verdict, usable }: Reading): number {
  return (verdict === 'reachable' ? 4 : verdict === 'partial' ? 2 : 0) + Number(usable);
}

function isOfPorts({ before, after }: Pick<Flip, 'before' | 'after'>): boolean {
  return JSON.stringify(before.reading.allowed) !== JSON.stringify(after.reading.allowed);
}

function isGrant({ causes, after }: Flip): boolean {
  return causes.some(
    ({ kind, name }) => kind === 'MeshPolicy' && after.state.policies.get(name)?.spec.action === 'ALLOW',
  );
}
