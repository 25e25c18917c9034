import type { BaseServices } from '../model/services.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { weightOf } from '../reachability/weight.ts';

/** Weight that is computed before other work of the process gets its turn; some 20 ms. */
const SLICE_WEIGHT = 100_000;

/** Returns true if answers about a network take so long that each yields the process to others first. */
export function isHeavy(reach: Reachability): boolean {
  return weightOf(reach) > SLICE_WEIGHT;
}

/** Computes the rows of heavy engines a few at a time, so that what is asked of them later takes no time. */
export async function prepareInSlices(
  { nextTurn }: Pick<BaseServices, 'nextTurn'>,
  reach: Reachability,
  later: () => readonly Reachability[],
): Promise<void> {
  if (!isHeavy(reach)) return;
  for (const one of [reach, ...later()]) {
    const { classes } = one.parts.space;
    const share = weightOf(reach) / (2 * classes.length);
    let weight = 0;
    for (const index of classes.keys()) {
      for (const direction of ['egress', 'ingress'] as const) {
        one.parts.table.row(direction, index);
        weight += share;
        if (weight < SLICE_WEIGHT) continue;
        weight = 0;
        await nextTurn();
      }
    }
  }
}
