import { bare, type Fact, factOf, type Held, type Newcomer, nameOf } from './facts.ts';
import { type Elements, isRecord, type Statement } from './ruleset.ts';

/**
 * Whether a packet meets a condition. `at times`: as a limit has it, which is meant to let in some. Else why it is not known,
 * as this program does not know the condition, or it is another for each packet.
 */
export type Matches = 'yes' | 'no' | 'at times' | { readonly unknown: string };

/** The elements of a named set of the table that the rule is in. */
export type SetOf = (name: string) => Elements;

/** Statements that let a rule go on for some packets: all else that is not certain is not known. */
export const CONDITIONAL: ReadonlySet<string> = new Set(['limit', 'quota', 'ct count']);

/** Whether the packet meets `{match: {op, left, right}}`. Pure. */
export function meets({ op, left, right }: Statement, packet: Newcomer, setOf: SetOf): Matches {
  const fact = factOf(left, packet);
  // Of another protocol neither a value nor its opposite is true.
  if (!fact) return 'no';
  const elements = elementsOf(right, setOf);
  if (typeof elements === 'string') return { unknown: elements };
  const held = heldBy(fact, String(op), right, elements);
  return held === 'unknown' ? { unknown: nameOf(left) } : held;
}

/** What a map gives for the packet. Pure. @returns undefined where the packet is none of its keys */
export function mapped(
  { key, data }: Statement,
  packet: Newcomer,
  setOf: SetOf,
): { readonly verdict: unknown } | { readonly unknown: string } | undefined {
  const fact = factOf(key, packet);
  const elements = fact ? elementsOf(data, setOf) : [];
  if (typeof elements === 'string') return { unknown: elements };
  for (const element of elements) {
    const [value, verdict] = Array.isArray(element) ? element : [];
    const held = fact?.is(bare(value));
    if (held === 'yes') return { verdict };
    if (held === 'unknown') return { unknown: nameOf(key) };
  }
  return undefined;
}

function heldBy(fact: Fact, op: string, right: unknown, elements: readonly unknown[]): Held {
  switch (op) {
    case '==':
      return anyOf(elements, fact);
    case '!=':
      return opposite(anyOf(elements, fact));
    case 'in':
      return fact.hasOneOf?.(right) ?? 'unknown';
    case '!':
      return opposite(fact.hasOneOf?.(right) ?? 'unknown');
    case '<':
    case '>':
    case '<=':
    case '>=':
      return compared(op, fact, right);
    default:
      return 'unknown';
  }
}

/** Those of a set; what is no set is one value. */
function elementsOf(right: unknown, setOf: SetOf): Elements {
  if (typeof right === 'string' && right.startsWith('@')) return setOf(right.slice(1));
  const set = isRecord(right) ? right['set'] : undefined;
  return Array.isArray(set) ? set : [right];
}

function anyOf(elements: readonly unknown[], fact: Fact): Held {
  let found: Held = 'no';
  for (const element of elements) {
    const held = fact.is(bare(element));
    if (held === 'yes') return 'yes';
    if (held === 'unknown') found = held;
  }
  return found;
}

function compared(op: '<' | '>' | '<=' | '>=', { between }: Fact, right: unknown): Held {
  const [low, high] = between ?? [];
  if (low === undefined || high === undefined || typeof right !== 'number') return 'unknown';
  const isSo = (number: number) =>
    ({ '<': number < right, '>': number > right, '<=': number <= right, '>=': number >= right })[op];
  if (isSo(low) !== isSo(high)) return 'unknown';
  return isSo(low) ? 'yes' : 'no';
}

function opposite(held: Held): Held {
  if (held === 'unknown') return held;
  return held === 'yes' ? 'no' : 'yes';
}
