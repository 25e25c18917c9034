import { endOf, rulesOf } from '../../model/policy-match.ts';
import { selectorWithin } from '../../model/selector-within.ts';
import { cutDeny, cutRules, type Half } from './cut.ts';
import type { Verb } from './order.ts';
import { otherPorts, portEntriesOf } from './order-ports.ts';
import { unmetPairs } from './order-result.ts';
import { type Direction, type IsolatedPart, type PolicyDraft, type RuleText, ruleCovers } from './policy-draft.ts';
import { refused } from './refused.ts';
import { everyoneBut, type ReadOrder, regionsOf } from './regions.ts';
import { entriesOf, type Group, type Side } from './who.ts';

/** Policies that one order may write. */
const MAX_PARTS = 20;

/** Writes the policies of an order into a draft. @throws MeshError `invalid_input` for what an order cannot say exactly */
export function writeOrder(order: ReadOrder, draft: PolicyDraft): void {
  WRITERS[order.order.do](order, draft);
}

const WRITERS: Readonly<Record<Verb, typeof writeOrder>> = { allow, deny, only, remove };

/** Selects those that are isolated, each for as long as they are, so that nobody is isolated by it who was not. */
function allow(order: ReadOrder, draft: PolicyDraft): void {
  const halves = ends(order).flatMap(([subject, others, direction]) =>
    halvesOf(subject, others).map((half) => [half, direction] as const),
  );
  for (const name of order.order.through ?? []) cutDeny(draft, name, halves, order.spans);
  for (const [half, direction] of halves) {
    const rule: RuleText = { peers: entriesOf(half.others, draft.state), ports: portEntriesOf(order.spans) };
    const parts = draft.isolatedParts(half.group, direction);
    if (parts.length > MAX_PARTS)
      throw refused(
        `${parts.length} policies isolate parts of what ${order.order.text} is about: order it in smaller parts.`,
      );
    for (const part of parts) {
      const endsAt = Math.min(part.endsAt, order.endsAt);
      if (!isCovered(draft, { ...part, endsAt }, direction, 'ALLOW', rule))
        draft.addRule('allow', { ...part, endsAt }, direction, 'ALLOW', [rule]);
    }
  }
}

function deny({ from, to, spans, endsAt }: ReadOrder, draft: PolicyDraft): void {
  const outsideOnly = { groups: [], ranges: to.ranges };
  const closings: [Half, Direction][] = [
    ...halvesOf(to, from).map((half): [Half, Direction] => [half, 'ingress']),
    ...halvesOf(from, outsideOnly).map((half): [Half, Direction] => [half, 'egress']),
  ];
  for (const [{ group, others }, direction] of closings) {
    const rule: RuleText = { peers: entriesOf(others, draft.state), ports: portEntriesOf(spans) };
    if (!isCovered(draft, { group, endsAt }, direction, 'DENY', rule))
      draft.addRule('deny', { group, endsAt }, direction, 'DENY', [rule]);
  }
}

/** Takes from rules of the targets; from rules of the sources where that is not enough, or where orders wrote them. */
function remove(order: ReadOrder, draft: PolicyDraft): void {
  const { from, to, spans } = order;
  for (const half of halvesOf(to, from)) cutRules(draft, half, spans, 'ingress');
  const isOpen = unmetPairs(regionsOf(order, draft.state), draft.state, draft.reach()).length > 0;
  for (const half of halvesOf(from, to)) cutRules(draft, half, spans, 'egress', !isOpen);
}

/** Takes what an order removes from the rules of policies that wait. */
export function removeWaiting({ from, to, spans }: ReadOrder, draft: PolicyDraft): void {
  const isWaiting = true;
  for (const half of halvesOf(to, from)) cutRules(draft, { ...half, isWaiting }, spans, 'ingress');
  for (const half of halvesOf(from, to)) cutRules(draft, { ...half, isWaiting }, spans, 'egress');
}

function only(order: ReadOrder, draft: PolicyDraft): void {
  const {
    order: { side = 'to', text },
    spans,
    endsAt,
  } = order;
  const [subject, others, direction] =
    side === 'to' ? ([order.to, order.from, 'ingress'] as const) : ([order.from, order.to, 'egress'] as const);
  if (subject.groups.length === 0 || subject.ranges.length > 0)
    throw refused(
      `only closes connections of peers, and ${text} is about addresses outside: name peers on that side, or use allow and deny.`,
    );
  for (const group of subject.groups.flatMap((one) => apart(one, draft, direction))) {
    const strange = others.groups.find(({ network }) => network !== undefined && network !== group.network);
    if (strange) throw refused(`${text}: name the network ${strange.network} on both sides.`);
    const rule: RuleText = { peers: entriesOf(others, draft.state), ports: portEntriesOf(spans) };
    const rest = otherPorts(spans);
    const rules = [rule, ...(rest.length === 0 ? [] : [{ peers: [], ports: portEntriesOf(rest) }])];
    const former = draft.like({ group, endsAt }, direction, 'ALLOW', rules);
    const parts = draft.isolatedParts(group, direction, former?.name);
    if (parts.length === 0) {
      if (!former || endOf(former.spec) < endsAt) draft.addRule('only', { group, endsAt }, direction, 'ALLOW', rules);
    } else if (draft.isWhole(group, parts)) {
      if (endsAt !== Number.POSITIVE_INFINITY)
        throw refused(
          `${text} takes access from others, which would not come back at its end: leave out for and until, or use deny for that time.`,
        );
      cutRules(draft, { group, others: everyoneBut(others, draft.state), isForLater: true }, spans, direction);
    } else {
      throw refused(
        `Policies isolate a part of what ${text} is about: name its peers one by one, or isolate all of them first.`,
      );
    }
  }
  allow(order, draft);
}

/** Splits a list of peers by whether policies isolate them. */
function apart(group: Group, draft: PolicyDraft, direction: Direction): Group[] {
  const ids = group.selector.peers;
  if (ids === undefined || Object.keys(group.selector).length > 1) return [group];
  const { true: isolated = [], false: open = [] } = Object.groupBy(ids, (id) =>
    draft.isolatedParts({ ...group, selector: { peers: [id] } }, direction).length > 0 ? 'true' : 'false',
  ) as { true?: string[]; false?: string[] };
  return [isolated, open].flatMap((peers) => (peers.length > 0 ? [{ ...group, selector: { peers } }] : []));
}

function ends({ from, to }: ReadOrder): readonly (readonly [Side, Side, Direction])[] {
  return [
    [to, from, 'ingress'],
    [from, to, 'egress'],
  ];
}

/** Groups of one side with those of the other that share a network with them. */
function halvesOf(subject: Side, others: Side): Half[] {
  return subject.groups.flatMap((group): Half[] => {
    const byNetwork = new Map<string | undefined, Group[]>();
    for (const other of others.groups) {
      if (group.network !== undefined && other.network !== undefined && group.network !== other.network) continue;
      const network = group.network ?? other.network;
      byNetwork.set(network, [...(byNetwork.get(network) ?? []), { selector: other.selector }]);
    }
    if (others.ranges.length > 0 && !byNetwork.has(group.network)) byNetwork.set(group.network, []);
    return [...byNetwork].map(([network, groups]) => ({
      group: { selector: group.selector, ...(network !== undefined && { network }) },
      others: { groups, ranges: network === group.network ? others.ranges : [] },
    }));
  });
}

function isCovered(
  draft: PolicyDraft,
  { group, endsAt }: IsolatedPart,
  direction: Direction,
  action: 'ALLOW' | 'DENY',
  rule: RuleText,
): boolean {
  const { peers } = draft.state;
  return draft.active().some(({ record: { spec } }) => {
    if (spec.action !== action || endOf(spec) < endsAt) return false;
    if (spec.network !== undefined && spec.network !== group.network) return false;
    if (!selectorWithin(group.selector, spec.peerSelector ?? {}, peers)) return false;
    return (rulesOf(spec, direction) ?? []).some((one) => ruleCovers(one, rule, peers));
  });
}
