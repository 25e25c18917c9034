import { MeshError } from '../../base/errors.ts';
import { stateAt } from '../../state/begins.ts';
import type { NetworkState } from '../../state/state.ts';
import { changesNothing } from './changes-nothing.ts';
import { type CompileContext, compileOrders } from './compile-orders.ts';
import type { OrderInput } from './order.ts';
import type { ReachOf } from './policy-draft.ts';
import { readOrders } from './read-orders.ts';

/**
 * Returns orders that bring back who could reach whom, of those that join later too; undefined where orders cannot say it, or
 * nothing shows that they do. They are tried first.
 *
 * @param inputs the orders that lead from `before` to `after`
 * @param at when they begin, ms
 */
export function undoOf(
  inputs: readonly OrderInput[],
  { before, after, at }: { readonly before: NetworkState; readonly after: NetworkState; readonly at: number },
  context: CompileContext,
): OrderInput[] | undefined {
  if (!inputs.every(({ do: verb }) => verb === 'allow' || verb === 'remove')) return undefined;
  const undo = inputs.toReversed().map(({ starts: _starts, for: _for, until: _until, ...input }): OrderInput => {
    return { ...input, do: input.do === 'allow' ? 'remove' : 'allow' };
  });
  try {
    const orders = readOrders(undo, after, { now: context.now, timeZone: 'UTC' });
    const undone = compileOrders(orders, after, context).after;
    const { joins, isPersons } = context;
    const reachOf: ReachOf = (state, instant = at) => context.reachOf(state, instant);
    const trial = { before: stateAt(before, at), after: stateAt(undone, at), now: at, isPersons, reachOf };
    return changesNothing(trial, joins) ? undo : undefined;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}
