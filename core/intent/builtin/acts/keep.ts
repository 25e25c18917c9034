import { type Act, type Ask, act, between, nounsOf, reachText } from './ask.ts';

/** Changes nothing, and holds the plan to it that the sources reach the targets afterwards. */
export function keep(ask: Ask): Act {
  return act(ask, [], between(ask, 'allow'), `${nounsOf(ask.sources)} must still reach ${reachText(ask)} afterwards`);
}
