import { portsOf, spansOf, subtract } from '../../../core/effect/port-spans.ts';
import type { Expectation } from '../../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../../core/intent/verify/expectations.ts';
import { compile } from '../../../core/reachability/engine.ts';
import type { Reachability } from '../../../core/reachability/reachability.ts';
import { modelOf } from '../../../core/state/network-model.ts';
import type { NetworkState } from '../../../core/state/state.ts';
import { type Act, type Ask, act, beside, between, nounsOf, reachText } from './ask.ts';

/** Changes nothing, and holds the plan to it that the sources reach the targets afterwards. */
export function keep(ask: Ask): Act {
  return beside(
    act(ask, [], between(ask, 'allow'), `${nounsOf(ask.sources)} must still reach ${reachText(ask)} afterwards`),
  );
}

/** Changes nothing, and holds the plan to it that what was open before is open afterwards. */
export function stay(ask: Ask, before: NetworkState): Act {
  const reach = compile(modelOf(before, ask.now));
  const wasOpen = (one: Expectation) => unmetExpectations([one], before, reach).length === 0;
  const open = between(ask, 'allow').flatMap((one) => (wasOpen(one) ? [one] : openOf(ask, one, reach)));
  return beside(
    act({ ...ask, until: undefined }, [], open, `${nounsOf(ask.sources)} to ${reachText(ask)} stays as it was`),
  );
}

/** More pairs are proven as far as all of them were open. */
const MAX_PAIRS = 100;

/** What was open of an expectation of groups, member by member and port by port. */
function openOf({ sources, targets }: Ask, { src, dst, ...asked }: Expectation, reach: Reachability): Expectation[] {
  const membersOf = (groups: Ask['sources'], term: string) =>
    groups.find(({ terms }) => terms.includes(term))?.peers.map(({ name }) => name) ?? [];
  const [from, to] = [membersOf(sources, src), membersOf(targets, dst)];
  if (from.length * to.length > MAX_PAIRS) return [];
  const ports = portsOf(asked);
  return from.flatMap((one) =>
    to
      .filter((other) => other !== one)
      .flatMap((other) => {
        const closed = subtract(ports, spansOf(reach.allowed(one, other)));
        return subtract(ports, closed).map(
          ({ protocol, from: port, to: endPort }): Expectation => ({
            src: one,
            dst: other,
            protocol,
            ...(port !== undefined && { port }),
            ...(endPort !== undefined && { endPort }),
            expect: 'allow',
          }),
        );
      }),
  );
}
