import { type PortSpan, subtract } from '../../effect/port-spans.ts';
import { overlaps, parseAddress, parseCidr } from '../../model/cidr.ts';
import type { PeerEntry, PolicySpec, Selector } from '../../model/policy.ts';
import { allRulesOf, DIRECTIONS, endOf, matchesAnyone, namesNoDirection, rulesOf } from '../../model/policy-match.ts';
import { isOfAgent } from '../../model/presets.ts';
import { cidrsOf, EVERY_ADDRESS, intersection, type Ranges, union, without } from '../../model/ranges.ts';
import type { PolicyRecord } from '../../model/resources.ts';
import { selectorWithin } from '../../model/selector-within.ts';
import { sameValue } from '../../model/value.ts';
import type { NetworkState } from '../../state/state.ts';
import { portEntriesOf, spansOfEntries } from './order-ports.ts';
import { type Direction, type PolicyDraft, type RuleText, withRules } from './policy-draft.ts';
import { selectorName } from './policy-names.ts';
import { refused } from './refused.ts';
import { both, minus } from './selectors.ts';
import { entriesOf, type Group, insideOf, membersOf, type Side } from './who.ts';

/** Connections between a group on the side of a rule's policy, and others. */
export interface Half {
  readonly group: Group;
  readonly others: Side;
  /** Also where no peer of now is in the group; else only what policies give now is taken. */
  readonly isForLater?: boolean;
  /** From policies that wait: without a rule they would begin and isolate. */
  readonly isWaiting?: boolean;
}

/** Takes connections out of the rules of ALLOW policies in one direction; isolation stays as it is. */
export function cutRules(
  draft: PolicyDraft,
  half: Half,
  spans: readonly PortSpan[],
  direction: Direction,
  isOwnOnly = false,
): void {
  for (const { record, isOwn } of draft.active()) {
    const { spec } = record;
    const rules = rulesOf(spec, direction) ?? [];
    if (spec.action !== 'ALLOW' || rules.length === 0 || isOfAgent(record) || (isOwnOnly && !isOwn)) continue;
    cutPolicy(draft, { record, isOwn }, rules, half, spans, direction);
  }
}

/**
 * Takes connections out of the rules of one DENY, for peers that join later too.
 *
 * @throws MeshError `invalid_input` where it denies none of them
 */
export function cutDeny(
  draft: PolicyDraft,
  name: string,
  halves: readonly (readonly [Half, Direction])[],
  spans: readonly PortSpan[],
): void {
  const before = draft.state;
  // A direction may divide the policy, whose parts are then cut in the other.
  const parts = new Set([name]);
  for (const [half, direction] of halves) {
    for (const drafted of draft.active().filter(({ record }) => parts.has(record.name))) {
      const rules = rulesOf(drafted.record.spec, direction) ?? [];
      const written = cutPolicy(draft, drafted, rules, { ...half, isForLater: true }, spans, direction);
      for (const part of written) parts.add(part);
    }
  }
  if (draft.state === before) throw refused(`The policy ${name} denies none of this: leave it out of through.`);
}

/** Returns the names of the policies into which it is divided. */
function cutPolicy(
  draft: PolicyDraft,
  { record: { name, spec }, isOwn }: { readonly record: PolicyRecord; readonly isOwn: boolean },
  rules: readonly RuleText[],
  { group, others, isForLater = false, isWaiting = false }: Half,
  spans: readonly PortSpan[],
  direction: Direction,
): readonly string[] {
  const { peers } = draft.state;
  const { peerSelector: subject = {}, network } = spec;
  if (network !== undefined && group.network !== undefined && network !== group.network) return [];
  const joined = both(subject, group.selector);
  if (!joined) return [];
  const left = rules.flatMap((rule) => ruleWithout(rule, others, spans, draft, name));
  if (
    sameValue(
      left,
      rules.map(({ peers: of, ports }) => ({ peers: of, ports })),
    )
  )
    return [];
  const next = withLeft(spec, direction, left, spec.action === 'ALLOW' && !isWaiting);
  const isEveryNetwork = group.network === undefined || group.network === network;
  if (isEveryNetwork && selectorWithin(subject, group.selector, peers)) {
    if (!next || ((isOwn || isForLater) && isEmpty(next) && isRedundant(draft, name, next))) draft.delete(name);
    else draft.put(name, next);
    return [name];
  }
  const hasMembers = membersOf({ ...group, selector: joined }, draft.state).length > 0;
  // No listed peer joins later.
  if (!hasMembers && (!isForLater || joined.peers !== undefined)) return [];
  if (!isEveryNetwork)
    throw refused(
      `The policy ${name} holds in every network, and the order is about one: write the policy anew with documents.`,
    );
  const [rest, ...more] = minus(subject, [group.selector]).filter((selector) => !isNobody(selector, draft.state));
  draft.put(name, { ...spec, peerSelector: rest ?? { peers: [] } });
  const parts: [string, PolicySpec][] = more.map((selector) => [`${name}-rest`, { ...spec, peerSelector: selector }]);
  const part = `${name}-${selectorName({ selector: joined }, draft.state)}`.slice(0, 58);
  if (next) parts.push([part, { ...next, peerSelector: joined }]);
  const names = parts.map(([wanted, own]) => {
    const free = draft.freeName(wanted);
    draft.put(free, own);
    return free;
  });
  return [name, ...names];
}

/** @param isIsolating true where it isolates without rules too, and is to go on */
function withLeft(
  spec: PolicySpec,
  direction: Direction,
  left: readonly RuleText[],
  isIsolating: boolean,
): PolicySpec | undefined {
  if (isIsolating || left.length > 0) return withRules(spec, direction, left);
  const { [direction]: _, ...rest } = spec;
  return namesNoDirection(rest) ? undefined : rest;
}

/** Returns true if a selector lists peers and selects none of them: they lack the labels beside the list. */
function isNobody(selector: Selector, state: NetworkState): boolean {
  return selector.peers !== undefined && membersOf({ selector }, state).length === 0;
}

function isEmpty(spec: PolicySpec): boolean {
  return allRulesOf(spec).length === 0;
}

/** Returns true if others isolate all that a policy isolates, for as long. */
function isRedundant(draft: PolicyDraft, name: string, spec: PolicySpec): boolean {
  const { peerSelector: selector = {}, network } = spec;
  const group: Group = { selector, ...(network !== undefined && { network }) };
  return DIRECTIONS.every(
    (direction) =>
      rulesOf(spec, direction) === undefined ||
      draft.isWhole(group, draft.isolatedParts(group, direction, name), endOf(spec)),
  );
}

/** Returns what is left of a rule: it on its other ports, and its other entries on the ports that are taken. */
function ruleWithout(
  { peers, ports }: RuleText,
  others: Side,
  spans: readonly PortSpan[],
  draft: PolicyDraft,
  policy: string,
): RuleText[] {
  const whole = spansOfEntries(ports);
  const kept = subtract(whole, spans);
  const taken = subtract(whole, kept);
  if (taken.length === 0) return [{ peers, ports }];
  const rest = entriesWithout(peers, others, draft, policy);
  if (rest === undefined) return [{ peers, ports }];
  return [
    ...(kept.length > 0 ? [{ peers, ports: portEntriesOf(kept) }] : []),
    ...(rest.length > 0 ? [{ peers: rest, ports: portEntriesOf(taken) }] : []),
  ];
}

/** Returns the entries without some others; undefined where they mean none of these. */
function entriesWithout(
  entries: readonly PeerEntry[],
  { groups, ranges }: Side,
  draft: PolicyDraft,
  policy: string,
): PeerEntry[] | undefined {
  const { state } = draft;
  const inside = insideOf(state);
  const gone = groups.map(({ selector }) => selector);
  if (matchesAnyone(entries)) {
    const outside = without(EVERY_ADDRESS, inside);
    const left: Side = { groups: minus({}, gone).map((selector) => ({ selector })), ranges: without(outside, ranges) };
    const isSame = gone.length === 0 && intersection(outside, ranges).length === 0;
    return isSame ? undefined : entriesOf(left, state);
  }
  let isTouched = false;
  const left = entries.flatMap((entry): PeerEntry[] => {
    if (entry === '*') return [entry];
    if (entry.peerSelector) {
      const { peerSelector } = entry;
      if (!gone.some((selector) => both(peerSelector, selector))) return [entry];
      isTouched = true;
      return minus(peerSelector, gone).flatMap((selector) =>
        isNobody(selector, state) ? [] : [{ peerSelector: selector }],
      );
    }
    const block = rangesOfBlock(entry.ipBlock);
    const within = intersection(block, inside);
    const members = groups.flatMap((group) => membersOf(group, state));
    const isWithin = members.some(({ status }) => {
      const own = status.address === null ? undefined : parseAddress(status.address);
      return own !== undefined && within.some((range) => overlaps(range, own));
    });
    const isEveryone = gone.some((selector) => Object.keys(selector).length === 0);
    if (isWithin && !isEveryone)
      throw refused(`The policy ${policy} names peers by their addresses: write it anew with documents.`);
    const next = without(isEveryone ? without(block, inside) : block, ranges);
    if (without(block, next).length === 0) return [entry];
    isTouched = true;
    return cidrsOf(next).length === 0 ? [] : entriesOf({ groups: [], ranges: next }, state);
  });
  return isTouched ? left : undefined;
}

function rangesOfBlock(block: { cidr: string; except?: string[] | undefined } | undefined): Ranges {
  const range = parseCidr(block?.cidr ?? '');
  if (!range) return [];
  return without([range], union((block?.except ?? []).flatMap((text) => parseCidr(text) ?? [])));
}
