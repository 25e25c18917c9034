import type { JoinGrant } from '../../authority/label-sets.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { sentSpecSchema } from '../../model/policy.ts';
import type { NetworkState } from '../../state/state.ts';
import { changesNothing } from './changes-nothing.ts';
import type { Order } from './order.ts';
import { hasPair, MAX_NAMED, madeSoBy, type UnmetPairs, unmetPairs, unmetText } from './order-result.ts';
import { PolicyDraft, type ReachOf } from './policy-draft.ts';
import { refused } from './refused.ts';
import { readOrder, regionsOf } from './regions.ts';
import { writeOrder } from './write-order.ts';

export interface CompileContext {
  /** ms */
  readonly now: number;
  /** Labels and networks that unused join tokens grant. */
  readonly joins: readonly JoinGrant[];
  /** True where a person gives them. */
  readonly isPersons: boolean;
  readonly reachOf: ReachOf;
}

/** Orders as changes of policies. */
export interface CompiledOrders {
  readonly changes: readonly NetworkChange[];
  /** The network with these changes. */
  readonly after: NetworkState;
  /** Policies that make so what holds already; undefined unless all orders hold already. */
  readonly already?: readonly string[];
  /** Orders that hold already, in words. */
  readonly idle: readonly string[];
  /** Connections that stay otherwise than ordered, as sentences with the reason. */
  readonly notChanged: readonly string[];
}

/**
 * Writes the policies that orders need, and no more.
 *
 * @throws MeshError `invalid_input` for an order of which nothing can be done, or that a DENY wins over
 */
export function compileOrders(orders: readonly Order[], state: NetworkState, context: CompileContext): CompiledOrders {
  const { now, joins, isPersons, reachOf } = context;
  const draft = new PolicyDraft(state, now, reachOf);
  const notChanged: string[] = [];
  const already: string[] = [];
  const idle: string[] = [];
  for (const order of orders) {
    const before = draft.state;
    const regions = regionsOf(readOrder(order, before), before);
    writeOrder(readOrder(order, before), draft);
    const trial = { before, after: draft.state, now, isPersons, reachOf };
    // An order about nobody of now is written: nothing shows that it is so already.
    const isSeen = draft.state !== before && regions.some((region) => hasPair(region, before, draft.reach(before)));
    if (isSeen && changesNothing(trial, joins)) draft.restore(before);
    const unmet = unmetPairs(regions, draft.state, draft.reach());
    refuseDenied(order, unmet);
    notChanged.push(...unmet.map(unmetText));
    if (draft.state !== before) continue;
    if (unmet.length > 0) throw refused(`Nothing of "${order.text}" can be done. ${unmet.map(unmetText).join('; ')}.`);
    idle.push(order.text);
    already.push(...regions.flatMap((region) => madeSoBy(region, before, draft.reach())));
  }
  const changes = draft.changes();
  for (const change of changes) {
    const isTooLarge = 'spec' in change && !sentSpecSchema.safeParse(change.spec).success;
    if (isTooLarge) throw refused(`The policy ${change.name} would be too large: order it in smaller parts.`);
  }
  return {
    changes,
    after: draft.state,
    notChanged: [...new Set(notChanged)],
    idle,
    ...(idle.length === orders.length && { already: [...new Set(already)].slice(0, MAX_NAMED) }),
  };
}

function refuseDenied(order: Order, unmet: readonly UnmetPairs[]): void {
  const denied = unmet.flatMap(({ deniedBy }) => deniedBy ?? []);
  const [first] = unmet.filter(({ deniedBy }) => deniedBy !== undefined);
  if (first) {
    const names = [...new Set(denied)].join(', ');
    throw refused(
      `"${order.text}" does not open ${first.src} to ${first.dst} on ${first.ports}: the policy ${names} denies it, and a DENY wins. Leave these peers out with except_from or except_to, or change that policy with changes first.`,
    );
  }
  const other = unmet.find(({ isHeld }) => !isHeld);
  if (other)
    throw refused(`"${order.text}" cannot be written exactly: ${unmetText(other)}. Change the policies with changes.`);
}
