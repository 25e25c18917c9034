import { modelOf } from '../../../network/model.ts';
import type { NetworkState } from '../../../network/state.ts';
import { compile } from '../../../reachability/engine.ts';
import { unmetExpectations } from '../../expectations.ts';
import type { Expectation } from '../../planner.ts';
import { type Act, type Ask, act, between, nounsOf, reachText } from './ask.ts';

/** Changes nothing, and holds the plan to it that the sources reach the targets afterwards. */
export function keep(ask: Ask): Act {
  return act(ask, [], between(ask, 'allow'), `${nounsOf(ask.sources)} must still reach ${reachText(ask)} afterwards`);
}

/** Changes nothing, and holds the plan to it that what was open before is open afterwards. */
export function stay(ask: Ask, before: NetworkState): Act {
  const reach = compile(modelOf(before, ask.now));
  const wasOpen = (one: Expectation) => unmetExpectations([one], before, reach).length === 0;
  const open = between(ask, 'allow').flatMap((one) => (wasOpen(one) ? [one] : singled(ask, one).filter(wasOpen)));
  return act({ ...ask, until: undefined }, [], open, `${nounsOf(ask.sources)} to ${reachText(ask)} stays as it was`);
}

/** More pairs are proven as far as all of them were open. */
const MAX_PAIRS = 100;

/** An expectation of groups as those of their members. */
function singled({ sources, targets }: Ask, { src, dst, ...more }: Expectation): Expectation[] {
  const membersOf = (groups: Ask['sources'], term: string) =>
    groups.find(({ terms }) => terms.includes(term))?.peers.map(({ name }) => name) ?? [];
  const [from, to] = [membersOf(sources, src), membersOf(targets, dst)];
  if (from.length * to.length > MAX_PAIRS) return [];
  return from.flatMap((one) => to.filter((name) => name !== one).map((name) => ({ ...more, src: one, dst: name })));
}
