import { MeshError } from '../base/errors.ts';
import { type Bits, eachBit } from './bits.ts';
import type { Direction } from './model.ts';
import type { PortSets } from './port-sets.ts';
import type { PolicyCode, RuleCode } from './program.ts';
import type { Reachability } from './reachability.ts';

/** The most that {@link weightOf} may come to for a network that is written. */
export const MAX_WEIGHT = 5_000_000;
/** The most that agents may make of it: the rest is for people, who can undo what agents did. */
export const MAX_WEIGHT_BY_AGENTS = MAX_WEIGHT / 2;

/** Not worth counting. */
const LIGHT = 100_000;

/** Steps of counting, each of one number or more, after which a network is heavier than all limits; about 0.1 s. */
const MAX_STEPS = 20_000_000;

const weights = new WeakMap<Reachability, number>();

/**
 * How many first and last ports are at most in the sets that the rows of a network are made of, one rule after the other:
 * counted, not computed. Classes that all rules treat alike count once. Infinite where counting itself takes long.
 */
export function weightOf(reach: Reachability): number {
  const before = weights.get(reach);
  if (before !== undefined) return before;
  const weight = weightIn(reach, 'egress') + weightIn(reach, 'ingress');
  weights.set(reach, weight);
  return weight;
}

/** A rule: whom it is about, whom it names, and the first and last ports of its set. */
interface WeightedRule {
  readonly subjects: Bits;
  readonly others: Bits;
  readonly numbers: number;
}

function weightIn(reach: Reachability, direction: Direction): number {
  const { policies, space, ports } = reach.parts;
  const rules: WeightedRule[] = [];
  const sets = new Set<number>();
  for (const { code } of policies) {
    for (const rule of code[direction] ?? []) {
      sets.add(rule.ports);
      rules.push(weighed(code, rule));
    }
  }
  // No set that rules add up to has more than all of theirs.
  const all = numbersOf(sets, ports);
  const most = mostOf(sets.size, all);
  if (most <= LIGHT) return most;
  // A space may tell apart more than there is.
  const classes = reach.members().flatMap((members, index) => (members.length > 0 ? [index] : []));
  const subjects = onePerGroup(rules, 'subjects', classes) ?? classes;
  const others = onePerGroup(rules, 'others', classes) ?? classes;
  return Math.min(most, weightOfRows(rules, subjects, others, all));

  function weighed(policy: PolicyCode, rule: RuleCode): WeightedRule {
    const numbers = ports.numbersIn(rule.ports);
    return { subjects: space.subjectsOf(policy), others: space.othersOf(rule), numbers };
  }
}

function numbersOf(sets: Iterable<number>, ports: PortSets): number {
  let all = 0;
  for (const id of sets) all += ports.numbersIn(id);
  return all;
}

/** Returns the most first and last ports that all unions of so many sets have together, in whichever order. */
export function mostOf(sets: number, numbers: number): number {
  return 2 ** sets * numbers;
}

function weightOfRows(
  rules: readonly WeightedRule[],
  subjects: readonly number[],
  others: readonly number[],
  all: number,
): number {
  const places = new Map(others.map((index, place) => [index, place]));
  const [rulesOf, othersOf] = [new Map<number, number[]>(subjects.map((index) => [index, []])), [] as number[][]];
  for (const [at, rule] of rules.entries()) {
    const named: number[] = [];
    othersOf.push(named);
    // All ports have no first and last one to be kept.
    if (rule.numbers === 0) continue;
    eachBit(rule.others, (index) => {
      const place = places.get(index);
      if (place !== undefined) named.push(place);
    });
    eachBit(rule.subjects, (index) => rulesOf.get(index)?.push(at));
  }
  let [weight, steps] = [0, 0];
  const sums = new Float64Array(others.length);
  for (const own of rulesOf.values()) {
    sums.fill(0);
    for (const at of own) {
      const [named = [], numbers = 0] = [othersOf[at], rules[at]?.numbers];
      steps += named.length;
      // Each step adds at least one number.
      if (steps > MAX_STEPS) return Number.POSITIVE_INFINITY;
      for (const place of named) {
        sums[place] = Math.min(all, (sums[place] ?? 0) + numbers);
        weight += sums[place] ?? 0;
      }
    }
  }
  return weight;
}

/** Returns a class of each group that is on one side of the same rules; undefined where grouping takes too long. */
function onePerGroup(
  rules: readonly WeightedRule[],
  side: 'subjects' | 'others',
  classes: readonly number[],
): number[] | undefined {
  const size = (classes.at(-1) ?? -1) + 1;
  const [one, two] = [new Uint32Array(size), new Uint32Array(size)];
  let steps = 0;
  let last: Bits | undefined;
  for (const [index, rule] of rules.entries()) {
    // The rules of one policy have the same subjects.
    if (rule[side] === last) continue;
    last = rule[side];
    eachBit(last, (at) => {
      if (at >= size) return;
      steps += 1;
      one[at] = Math.imul((one[at] ?? 0) ^ (index + 1), 0x01000193);
      two[at] = Math.imul((two[at] ?? 0) + index + 1, 0x9e3779b1);
    });
    if (steps > MAX_STEPS) return undefined;
  }
  const isNamed = (at: number) => one[at] !== 0 || two[at] !== 0;
  return [...new Map(classes.filter(isNamed).map((at) => [`${one[at]}.${two[at]}`, at])).values()];
}

/** Returns the error for a network that is too heavy. */
export function tooHeavy(): MeshError {
  return new MeshError(
    'payload_too_large',
    'These policies tell too many sets of ports apart (docs/limits.md), and nothing was written. Give rules the same ports, use ranges instead of single ports, or select peers by fewer labels.',
  );
}
