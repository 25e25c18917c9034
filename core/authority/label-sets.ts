import type { PolicySpec, Selector } from '../model/policy.ts';
import type { NetworkState } from '../state/state.ts';

export type Labels = Readonly<Record<string, string>>;

/** Every selector that a policy uses: whom it is about, and who is at the other end. */
export function selectorsOf({ peerSelector = {}, ingress = [], egress = [] }: PolicySpec): Selector[] {
  const entries = [...ingress.map(({ from }) => from ?? []), ...egress.map(({ to }) => to ?? [])].flat();
  return [peerSelector, ...entries.flatMap((entry) => (entry === '*' ? [] : (entry.peerSelector ?? [])))];
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

function* choicesOf([first, ...rest]: readonly (readonly [string, readonly string[]])[]): Generator<Labels> {
  if (!first) {
    yield {};
    return;
  }
  const [key, values] = first;
  for (const value of values) for (const others of choicesOf(rest)) yield { [key]: value, ...others };
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

/**
 * Names a set of labels as far as policies, and what agents may reach, can tell it from others: labels that none of them
 * speaks of are nothing, and so is the difference between values that none of them names.
 */
export function labelClasses(states: readonly NetworkState[]): (labels: Labels) => string {
  const named = new Map<string, Set<string>>();
  for (const selector of states.flatMap(selectorsIn)) {
    const { matchLabels = {}, matchExpressions = [] } = selector;
    for (const [key, value] of Object.entries(matchLabels)) note(key, [value]);
    for (const { key, values = [] } of matchExpressions) note(key, values);
  }

  function note(key: string, values: readonly string[]): void {
    const known = named.get(key) ?? new Set<string>();
    named.set(key, known);
    for (const value of values) known.add(value);
  }

  return (labels) => {
    const told = Object.entries(labels).filter(([key]) => named.has(key));
    return JSON.stringify(told.map(([key, value]) => (named.get(key)?.has(value) ? [key, value] : [key])).sort());
  };
}

function selectorsIn({ policies, agents }: NetworkState): Selector[] {
  return [
    ...[...policies.values()].flatMap(({ spec }) => selectorsOf(spec)),
    ...[...agents.values()].flatMap(({ spec: { reach = [], egress = [] } }) =>
      selectorsOf({ action: 'ALLOW', egress: [...reach, ...egress] }),
    ),
  ];
}
