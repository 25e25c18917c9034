import type { Reachability } from '../../reachability/reachability.ts';
import type { NetworkState } from '../../state/state.ts';
import type { Expectation } from './expectation.ts';
import { unmetExpectations } from './expectations.ts';

/** More are counted. */
const MAX_NAMED = 5;

/** The network before a plan, and whether the plan opens or closes anything at all. */
export interface Before {
  readonly before: NetworkState;
  readonly was: Reachability;
  readonly hasEffect: boolean;
}

/** Parts of an intent that ask for what is so already, else the whole where nothing opens or closes; as one sentence. */
export function idleText(expectations: readonly Expectation[], { before, was, hasEffect }: Before): string | undefined {
  const parts = partsOf(expectations);
  const idle = [...parts].flatMap(([part, all]) => (unmetExpectations(all, before, was).length === 0 ? [part] : []));
  if (idle.length === 0) return hasEffect || expectations.length === 0 ? undefined : NOTHING;
  const named = idle.slice(0, MAX_NAMED).map((part) => JSON.stringify(part));
  const more = idle.length > MAX_NAMED ? [`${idle.length - MAX_NAMED} more`] : [];
  const rest = idle.length === parts.size && !hasEffect ? `; ${NOTHING}` : '';
  return `it is so already, so this part changes nothing for now: ${[...named, ...more].join(', ')}${rest}`;
}

const NOTHING = 'nothing opens and nothing closes when this plan is applied';

function partsOf(expectations: readonly Expectation[]): Map<string, Expectation[]> {
  const parts = new Map<string, Expectation[]>();
  for (const one of expectations) {
    if (one.part === undefined) continue;
    const known = parts.get(one.part);
    if (known) known.push(one);
    else parts.set(one.part, [one]);
  }
  return parts;
}
