import { splitGrant } from '../model/device-labels.ts';
import type { PolicySpec, Selector } from '../model/policy.ts';
import { allRulesOf } from '../model/policy-match.ts';
import { isReserved } from '../model/presets.ts';
import type { NetworkState } from '../state/state.ts';

export type Labels = Readonly<Record<string, string>>;

/** Every selector that a policy uses: whom it is about, and who is at the other end. */
export function selectorsOf(spec: PolicySpec): Selector[] {
  const entries = allRulesOf(spec).flatMap(({ peers }) => peers);
  return [spec.peerSelector ?? {}, ...entries.flatMap((entry) => (entry === '*' ? [] : (entry.peerSelector ?? [])))];
}

/**
 * The fewest labels that a selector means, once for each choice of values; none where it lists peers by their ids or
 * contradicts itself.
 *
 * Example: `role In [web, api]` and `env Exists` give `{role: web, env: any}` and `{role: api, env: any}`.
 */
export function* labelSetsOf(selector: Selector): Generator<Labels> {
  if (selector.peers !== undefined) return;
  yield* choicesOf([...valuesByKey(selector)]);
}

type Values = readonly (string | undefined)[];

/** Undefined stands for no such label. */
function* choicesOf([first, ...rest]: readonly (readonly [string, Values])[]): Generator<Labels> {
  if (!first) {
    yield {};
    return;
  }
  const [key, values] = first;
  for (const value of values) {
    for (const others of choicesOf(rest)) yield value === undefined ? others : { [key]: value, ...others };
  }
}

/** The values from which each label that has to be there may be; no values where nothing meets all that is said. */
function valuesByKey({ matchLabels = {}, matchExpressions = [] }: Selector): Map<string, string[]> {
  const said = [
    ...Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In' as const, values: [value] })),
    ...matchExpressions,
  ];
  const found = new Map<string, string[]>();
  for (const [key, all] of Map.groupBy(said, (one) => one.key)) {
    const valuesOf = (operator: string) =>
      all.filter((one) => one.operator === operator).map((one) => one.values ?? []);
    const refused = new Set(valuesOf('NotIn').flat());
    const lists = valuesOf('In').map((values) => new Set(values));
    const isNeeded = all.some(({ operator }) => operator === 'In' || operator === 'Exists');
    if (!isNeeded) continue;
    const [list = [otherThan(refused)], ...more] = lists;
    const isAbsent = all.some(({ operator }) => operator === 'DoesNotExist');
    const values = [...list].filter((value) => !refused.has(value) && more.every((one) => one.has(value)));
    found.set(key, isAbsent ? [] : values);
  }
  return found;
}

function otherThan(values: ReadonlySet<string>): string {
  let other = 'any';
  while (values.has(other)) other = `${other}-other`;
  return other;
}

/** Labels and network that devices get which join with one token. */
export interface JoinGrant {
  readonly labels: Labels;
  readonly network: string;
  /** Labels that a device may ask for, as `key=value`, or `key` for any value. */
  readonly deviceLabels?: readonly string[];
}

/** Values of each label key by which selectors tell peers apart. */
export type NamedLabels = ReadonlyMap<string, ReadonlySet<string>>;

/** Returns the labels that policies and the grants of agents name, and those that `more` selectors do. */
export function namedLabels(states: readonly NetworkState[], more: readonly Selector[] = []): NamedLabels {
  const named = new Map<string, Set<string>>();
  for (const { matchLabels = {}, matchExpressions = [] } of [...states.flatMap(selectorsIn), ...more]) {
    for (const [key, value] of Object.entries(matchLabels)) note(key, [value]);
    for (const { key, values = [] } of matchExpressions) note(key, values);
  }
  return named;

  function note(key: string, values: readonly string[]): void {
    const known = named.get(key) ?? new Set<string>();
    named.set(key, known);
    for (const value of values) known.add(value);
  }
}

/**
 * Names a set of labels as far as selectors can tell it from others: labels that none of them speaks of are nothing, and
 * so is the difference between values that none of them names.
 */
export function labelClasses(named: NamedLabels): (labels: Labels) => string {
  return (labels) => {
    const told = Object.entries(labels).filter(([key]) => named.has(key));
    return JSON.stringify(told.map(([key, value]) => (named.get(key)?.has(value) ? [key, value] : [key])).sort());
  };
}

/**
 * Yields each set of labels that a device may join with, whatever it asks for: of what selectors cannot tell apart one.
 * There may be very many, so whoever asks stops at some number.
 */
export function* labelsJoining(joins: readonly JoinGrant[], named: NamedLabels): Generator<JoinGrant> {
  const tokens = new Map(joins.map((one) => [JSON.stringify([one.network, one.labels, one.deviceLabels]), one]));
  for (const { labels, network, deviceLabels = [] } of tokens.values()) {
    for (const asked of choicesOf(askedValues(deviceLabels, labels, named))) {
      yield { labels: { ...asked, ...labels }, network };
    }
  }
}

/** The values that a device may ask for of each label that matters, undefined for not asking. A token's own label wins. */
function askedValues(deviceLabels: readonly string[], own: Labels, named: NamedLabels): [string, Values][] {
  const asked = new Map<string, Set<string | undefined>>();
  for (const grant of deviceLabels) {
    const [key, value] = splitGrant(grant);
    const known = named.get(key);
    if (!known || isReserved(key) || Object.hasOwn(own, key)) continue;
    const values = asked.get(key) ?? new Set([undefined]);
    asked.set(key, values);
    for (const one of value === undefined ? [...known, otherThan(known)] : [value]) values.add(one);
  }
  return [...asked].map(([key, values]) => [key, [...values]]);
}

function selectorsIn({ policies, agents }: NetworkState): Selector[] {
  return [
    ...[...policies.values()].flatMap(({ spec }) => selectorsOf(spec)),
    ...[...agents.values()].flatMap(({ spec: { reach = [], egress = [] } }) =>
      selectorsOf({ action: 'ALLOW', egress: [...reach, ...egress] }),
    ),
  ];
}
