import { brokenAssertions } from '../../assertions/guard.ts';
import { controlsOfChange } from '../../authority/controls.ts';
import { joinGrantsOf } from '../../authority/join-grants.ts';
import { isAgentId } from '../../base/ids.ts';
import { TEXT_LIMITS } from '../../base/text.ts';
import { formatSecond } from '../../base/time.ts';
import type { ReservedRange } from '../../changes/change-checks.ts';
import { type NetworkChange, planChanges } from '../../changes/changes.ts';
import { brokenControls } from '../../compliance/flips.ts';
import type { PolicySpec } from '../../model/policy.ts';
import { beginOf, begun, endOf } from '../../model/policy-match.ts';
import type { PolicyRecord } from '../../model/resources.ts';
import { sameValue } from '../../model/value.ts';
import { type WorkspaceSettings, workspaceById } from '../../model/workspaces.ts';
import { type NetworkState, writtenPolicies } from '../../state/state.ts';
import { type CompileContext, compileOrders } from '../orders/compile-orders.ts';
import type { Order, OrderInput } from '../orders/order.ts';
import { lasting } from '../orders/policy-draft.ts';
import { readHold, readOrders } from '../orders/read-orders.ts';
import { refused } from '../orders/refused.ts';
import { undoOf } from '../orders/undo.ts';
import { meansOutside } from '../orders/who.ts';
import type { Requester } from '../verify/findings.ts';
import { controlRanges } from '../verify/lock-out.ts';
import { changesOfEdits, inEdits, type OrderedInput } from './edits.ts';
import type { PlanServices } from './services.ts';

/** Orders as the changes that code writes for them. */
export interface WrittenOrders {
  readonly orders: readonly Order[];
  readonly hold: readonly Order[];
  /** The changes of records beside the orders. */
  readonly edits: readonly NetworkChange[];
  /** The edits, followed by the policies that the orders need. */
  readonly changes: readonly NetworkChange[];
  /** The orders in words. */
  readonly sentence: string;
  readonly notes: readonly string[];
  /** Policies that make so what was ordered; undefined unless all of it is so already. */
  readonly already?: readonly string[];
  /** Orders that bring back who could reach whom; undefined where orders cannot say it. */
  readonly undo?: readonly OrderInput[];
}

export interface OrderContext extends CompileContext {
  readonly timeZone: string;
  readonly namespace: string;
  /** Addresses that no network may hold. */
  readonly reserved?: readonly ReservedRange[];
}

/** Writes orders as {@link writeOrders} does, in the newest state of a workspace. */
export async function writtenOrders(
  services: Pick<PlanServices, 'store' | 'states' | 'clock' | 'settings'>,
  workspace: string,
  input: OrderedInput,
  requester: Requester,
): Promise<WrittenOrders> {
  const [state, { spec }, joins] = await Promise.all([
    services.states.current(workspace),
    workspaceById(services, workspace),
    joinGrantsOf(services, workspace),
  ]);
  const now = services.clock.now();
  const written = writeOrders(input, state, {
    now,
    timeZone: spec.settings.timeZone ?? 'UTC',
    namespace: spec.namespace,
    reserved: controlRanges(services.settings),
    joins,
    isPersons: !isAgentId(requester.id),
    owner: requester.id,
    reachOf: (on, at = now) => services.states.reachability(on, at),
  });
  await refuseRestedOn(services, written.orders, { before: state, joins, settings: spec.settings, now });
  return written;
}

/**
 * Writes the changes that orders and edits need. Orders are read in the network that the edits lead to.
 *
 * @throws MeshError `invalid_input` for orders that are faulty, contradict each other, or of which nothing can be done
 */
export function writeOrders(input: OrderedInput, state: NetworkState, context: OrderContext): WrittenOrders {
  const { now, reserved } = context;
  const edits = changesOfEdits(input, state, context.namespace);
  const before = edits.length === 0 ? state : inEdits(input, () => planChanges(state, edits, now, reserved).after);
  const orders = readOrders(input.orders, before, context);
  const hold = readHold(input.hold ?? [], before, context);
  if (edits.length > 0 && orders.some(({ startsAt }) => startsAt !== undefined)) throw refused(EDITS_BEGIN_NOW);
  const takenNames = new Set(writtenPolicies(state).keys());
  const { changes, after, already, idle } = compileOrders(orders, before, { ...context, takenNames });
  refuseContradictions(orders, edits, changes);
  const isAlready = already !== undefined && orders.length > 0 && edits.length === 0;
  const undo = isAlready || edits.length > 0 ? undefined : undoOf(input.orders, { before, after }, context);
  return {
    orders,
    hold,
    edits,
    changes: [...edits, ...changes],
    sentence: sentenceOf(orders, edits, hold),
    notes: [
      ...(already ?? []).flatMap(
        (name) => longerText(before.policies.get(name) ?? before.waiting.get(name), orders) ?? [],
      ),
      ...[...(already ?? []), ...changes.map(({ name }) => name)].flatMap(
        (name) => earlierText(before.waiting.get(name), orders) ?? [],
      ),
      ...besideTexts(changes, before),
      ...(isAlready ? [] : idle.map((text) => `it is so already, so this order changes nothing: ${text}`)),
      ...(orders.some((order) => [order.from, order.to].flat().some(meansOutside)) ? [OUTSIDE_NOTE] : []),
    ],
    ...(isAlready && { already }),
    ...(undo && { undo }),
  };
}

/** Says of a policy that makes orders so for longer than they ask that it keeps its end. */
function longerText(policy: PolicyRecord | undefined, orders: readonly Order[]): string | undefined {
  const { expiresAt } = policy?.spec ?? {};
  if (!policy || expiresAt === undefined || orders.some((order) => order.expiresAt === expiresAt)) return undefined;
  return `${policy.name} makes it so until ${formatSecond(endOf(policy.spec))} and keeps that end: to end it sooner, delete ${policy.name} and send the order with it`;
}

/** Says of a policy that waits and makes orders so before they begin that it keeps its begin. */
function earlierText(policy: PolicyRecord | undefined, [order]: readonly Order[]): string | undefined {
  if (!policy || beginOf(policy.spec) >= beginOf(order ?? {})) return undefined;
  const { name, spec } = policy;
  return `${name} begins at ${formatSecond(beginOf(spec))} already and keeps that begin: to have it begin later, delete ${name} and send the order again`;
}

/** Says of policies that wait and do the same as a new one, at another time, that both count. */
function besideTexts(changes: readonly NetworkChange[], { waiting }: NetworkState): string[] {
  const does = (spec: PolicySpec) => lasting(begun(spec));
  return changes.flatMap((change) => {
    if (change.resource !== 'MeshPolicy' || change.action !== 'create') return [];
    return [...waiting.values()]
      .filter(({ spec }) => sameValue(does(spec), does(change.spec)))
      .map(({ name, spec }) => {
        const until = spec.expiresAt === undefined ? '' : ` to ${formatSecond(endOf(spec))}`;
        return `${name} waits too and does the same, from ${formatSecond(beginOf(spec))}${until}: if ${change.name} is to take its place, delete it`;
      });
  });
}

/** An order may not change what is written beside it. */
function refuseContradictions(
  orders: readonly Order[],
  edits: readonly NetworkChange[],
  changes: readonly NetworkChange[],
): void {
  const twice = changes.find(({ name }) => edits.some((one) => one.resource === 'MeshPolicy' && one.name === name));
  if (twice)
    throw refused(
      `The policy ${twice.name} is written beside the orders, and "${orders.map(({ text }) => text).join('; ')}" would change it: leave it out of the one or the other.`,
    );
}

interface RestedOn {
  readonly before: NetworkState;
  readonly joins: CompileContext['joins'];
  readonly settings: WorkspaceSettings;
  /** ms */
  readonly now: number;
}

/** No order makes a hole in a DENY without which an assertion or a control would fail. */
async function refuseRestedOn(
  services: Pick<PlanServices, 'store' | 'states' | 'clock' | 'settings'>,
  orders: readonly Order[],
  { before, joins, settings, now }: RestedOn,
): Promise<void> {
  const { states } = services;
  for (const { text, through = [] } of orders) {
    for (const name of through.filter((one) => before.policies.has(one))) {
      const deletion: NetworkChange = { action: 'delete', resource: 'MeshPolicy', name };
      const { after } = planChanges(before, [deletion], now, controlRanges(services.settings));
      const { broken } = await brokenAssertions(services, before, after);
      const failing = brokenControls(controlsOfChange({ before, after, now }, { joins, settings, states }));
      const resting = [
        ...broken.map((one) => `the assertion ${one.name}`),
        ...failing.map((one) => `the control ${one}`),
      ];
      if (resting.length > 0)
        throw refused(`"${text}" may not go through ${name}: ${resting.join(', ')} would fail without that policy.`);
    }
  }
}

const EDITS_BEGIN_NOW =
  'What set, delete and documents say is changed at once, and the orders begin later: send them in calls of their own.';

const OUTSIDE_NOTE =
  'nodes enforce nothing about addresses outside: the order counts in plans, assertions and compliance';

function sentenceOf(orders: readonly Order[], edits: readonly NetworkChange[], hold: readonly Order[]): string {
  if (orders.length + edits.length === 0)
    return `hold: ${hold.map(({ text }) => text).join('; ')}`.slice(0, TEXT_LIMITS.intent);
  const texts = [
    ...orders.map(({ text }) => text),
    ...edits.map(({ action, resource, name }) => `${action} ${resource} ${name}`),
  ];
  return texts.join('; ').slice(0, TEXT_LIMITS.intent);
}
