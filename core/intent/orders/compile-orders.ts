import type { JoinGrant } from '../../authority/label-sets.ts';
import type { Change } from '../../base/ports.ts';
import type { NetworkChange } from '../../changes/changes.ts';
import { lookUpById } from '../../model/find.ts';
import { sentSpecSchema } from '../../model/policy.ts';
import { beginOf, begun } from '../../model/policy-match.ts';
import { sameValue } from '../../model/value.ts';
import { stateAt } from '../../state/begins.ts';
import { afterCommit, type NetworkState, writtenPolicies } from '../../state/state.ts';
import { changesNothing, type Trial } from './changes-nothing.ts';
import { onlyDenials } from './only-denials.ts';
import type { Order } from './order.ts';
import {
  countMet,
  hasPair,
  isMetSomewhere,
  MAX_NAMED,
  madeSoBy,
  OPEN_BY_DEFAULT,
  type UnmetPairs,
  unmetPairs,
  unmetText,
} from './order-result.ts';
import { lasting, newPolicy, PolicyDraft, type ReachOf } from './policy-draft.ts';
import { refused } from './refused.ts';
import { type Region, readOrder, regionsOf } from './regions.ts';
import { removeWaiting, writeOrder } from './write-order.ts';

export interface CompileContext {
  /** ms */
  readonly now: number;
  /** Labels and networks that unused join tokens grant. */
  readonly joins: readonly JoinGrant[];
  /** True where a person gives them. */
  readonly isPersons: boolean;
  /** Id of who gives the orders; without one, none of their policies is known. */
  readonly owner?: string;
  readonly reachOf: ReachOf;
  /** Names of policies that no new one gets, beside those that there are. */
  readonly takenNames?: ReadonlySet<string>;
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
  const { joins, isPersons, owner } = context;
  const takenNames = new Set([...(context.takenNames ?? []), ...writtenPolicies(state).keys()]);
  const begin = beginOf(orders[0] ?? {});
  const now = Math.max(context.now, begin);
  const reachOf: ReachOf = (on) => context.reachOf(on, now);
  const draft = new PolicyDraft(stateAt(state, begin), now, reachOf, takenNames);
  // What is removed does not begin later either.
  const waiting = new PolicyDraft({ ...state, policies: state.waiting }, 0, reachOf, takenNames);
  const notChanged: string[] = [];
  const already: string[] = [];
  const idle: string[] = [];
  for (const order of orders) {
    const [before, waited] = [draft.state, waiting.state];
    const regions = regionsOf(readOrder(order, before), before);
    writeOrder(readOrder(order, before), draft);
    if (order.do === 'remove') removeWaiting(readOrder(order, before), waiting);
    // Connections that no ALLOW opens are not denied: a later ALLOW would open them.
    const judged = order.do === 'deny' ? onlyDenials : (of: NetworkState) => of;
    const trial = { before: judged(before), after: judged(draft.state), now, isPersons, reachOf };
    if (draft.state !== before && isIdle(regions, trial, joins)) draft.restore(before);
    const unmet = unmetPairs(regions, draft.state, draft.reach());
    refuseDenied(order, unmet);
    refusePreset(order, unmet, before);
    notChanged.push(...unmet.map(unmetText));
    if (draft.state !== before || waiting.state !== waited) continue;
    const isPartlySo = regions.some((region) => isMetSomewhere(region, before, draft.reach()));
    if (unmet.length > 0 && !(isPartlySo && unmet.every(({ reason }) => reason !== OPEN_BY_DEFAULT)))
      throw refused(`Nothing of "${order.text}" can be done. ${unmet.map(unmetText).join('; ')}.`);
    idle.push(order.text);
    already.push(...regions.flatMap((region) => madeSoBy(region, judged(before), draft.reach(judged(before)))));
  }
  if (owner !== undefined) draft.renew(owner, draft.state.waiting.values());
  const changes = [...beginning(draft.changes(), state, orders), ...waiting.changes()];
  for (const change of changes) {
    const isTooLarge = 'spec' in change && !sentSpecSchema.safeParse(change.spec).success;
    if (isTooLarge) throw refused(`The policy ${change.name} would be too large: order it in smaller parts.`);
  }
  return {
    changes,
    after: begin > context.now || state.waiting.size > 0 ? withPolicies(state, changes) : draft.state,
    notChanged: [...new Set(notChanged)],
    idle,
    ...(idle.length === orders.length && { already: [...new Set(already)].slice(0, MAX_NAMED) }),
  };
}

/**
 * Has the policies that orders write begin with them, and those that wait already no later than before.
 *
 * @throws MeshError `invalid_input` where they would change others, which count until then as they are
 */
function beginning(
  changes: readonly NetworkChange[],
  { policies, waiting }: NetworkState,
  orders: readonly Order[],
): NetworkChange[] {
  const [{ startsAt, text } = {}] = orders;
  return changes.map((change): NetworkChange => {
    if (change.resource !== 'MeshPolicy') return change;
    const waited = waiting.get(change.name);
    const before = waited ?? policies.get(change.name);
    const isEarlier = waited !== undefined && beginOf({ startsAt }) < beginOf(waited.spec);
    const own = !before || isEarlier ? startsAt : before.spec.startsAt;
    const isRenewed =
      before && change.action !== 'delete' && sameValue(lasting(begun(before.spec)), lasting(change.spec));
    if (own !== startsAt && !isRenewed)
      throw refused(
        `"${text}" would change the policy ${change.name} at once, before the order begins: send it at that time, or use deny with starts.`,
      );
    if (change.action === 'delete') return change;
    const spec = { ...change.spec, ...(own !== undefined && { startsAt: own }) };
    return { ...change, action: before ? 'update' : 'create', spec };
  });
}

function withPolicies(state: NetworkState, changes: readonly NetworkChange[]): NetworkState {
  const revision = state.revision + 1;
  const made = changes.flatMap((change): Change[] => {
    if (change.resource !== 'MeshPolicy') return [];
    const { name } = change;
    const before = state.policies.get(name) ?? state.waiting.get(name);
    if (change.action === 'delete') return before ? [{ type: 'deleted', record: before, before }] : [];
    const record = { ...(before ?? newPolicy(name, state)), spec: change.spec };
    return [{ type: before ? 'updated' : 'created', record, ...(before && { before }) }];
  });
  return afterCommit(state, { revision, changes: made });
}

/** An order about nobody of now is written: nothing shows that it is so already. */
function isIdle(regions: readonly Region[], trial: Trial, joins: readonly JoinGrant[]): boolean {
  const { before, after, reachOf } = trial;
  const [was, is] = [reachOf(before), reachOf(after)];
  // Counting is cheaper than the whole effect, and says it of most orders.
  if (countMet(regions, after, is) > countMet(regions, before, was)) return false;
  return regions.some((region) => hasPair(region, before, was)) && changesNothing(trial, joins);
}

/** Below a preset, `only` of its own agent would open and close nothing. */
function refusePreset(order: Order, unmet: readonly UnmetPairs[], { peers }: NetworkState): void {
  const { side = 'to', text } = order;
  if (order.do !== 'only') return;
  const named = new Set(order[side].map((id) => lookUpById(peers, id)?.name));
  const held = unmet.find(({ preset, src, dst }) => preset !== undefined && named.has(side === 'from' ? src : dst));
  if (held)
    throw refused(
      `"${text}" would not close ${held.src} to ${held.dst} on ${held.ports}: the preset ${held.preset} gives it, and no order changes a preset. Give the agent a narrower preset, or send allow in place of only.`,
    );
}

function refuseDenied(order: Order, unmet: readonly UnmetPairs[]): void {
  const names = [...new Set(unmet.flatMap(({ deniedBy }) => deniedBy ?? []))];
  const first = unmet.find(({ deniedBy }) => deniedBy !== undefined);
  if (first) {
    const hole =
      order.do === 'allow' && order.expiresAt === undefined
        ? `make a hole in it with "through": ${JSON.stringify([...(order.through ?? []), ...names])}, which a person approves`
        : 'change that policy first';
    throw refused(
      `"${order.text}" does not open ${first.src} to ${first.dst} on ${first.ports}: the policy ${names.join(', ')} denies it, and a DENY wins. Leave these peers out with except_from or except_to, or ${hole}.`,
    );
  }
  const other = unmet.find(({ isHeld }) => !isHeld);
  if (other)
    throw refused(`"${order.text}" cannot be written exactly: ${unmetText(other)}. Write the policies with documents.`);
}
