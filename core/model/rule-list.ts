import type { z } from 'zod';
import { listOf } from '../base/list.ts';

/** The most that the rules of one list may say together, as {@link rulesWeight} counts it. */
export const MAX_RULES_WEIGHT = 3_000;

/**
 * A list of rules as callers send it. All such lists are made here: a list of 100 rules with 100 entries and ports each
 * compresses well, and would take seconds to apply to each peer. What is stored may be larger, by an earlier version.
 */
export function ruleList<T extends z.ZodType>(rule: T, maxRules: number): z.ZodArray<T> {
  return listOf(rule, maxRules, (rules) => (rulesWeight(rules) > MAX_RULES_WEIGHT ? tooHeavy() : undefined));
}

const tooHeavy = () =>
  `These rules have more than ${MAX_RULES_WEIGHT.toLocaleString('en')} entries and ports together (docs/limits.md). ` +
  'Select peers by a label that they share, use ranges of ports, or divide the rules among several policies.';

/**
 * Counts the ports and entries of rules. An entry counts as many times as it names peers, labels, values and exceptions, once
 * at least. Reads what was sent before it is checked, and stops above the limit.
 */
function rulesWeight(rules: readonly unknown[]): number {
  let weight = 0;
  for (const rule of rules) {
    weight += listIn(rule, 'ports').length;
    for (const entry of [...listIn(rule, 'from'), ...listIn(rule, 'to')]) {
      weight += entryWeight(entry);
      if (weight > MAX_RULES_WEIGHT) return weight;
    }
  }
  return weight;
}

function entryWeight(entry: unknown): number {
  const selector = fieldOf(entry, 'peerSelector');
  const labels = fieldOf(selector, 'matchLabels');
  const named =
    listIn(selector, 'peers').length +
    listIn(selector, 'notPeers').length +
    (typeof labels === 'object' && labels !== null ? Object.keys(labels).length : 0) +
    listIn(selector, 'matchExpressions').reduce<number>(
      (sum, one) => sum + Math.max(1, listIn(one, 'values').length),
      0,
    );
  return Math.max(1, named) + listIn(fieldOf(entry, 'ipBlock'), 'except').length;
}

function listIn(value: unknown, field: string): readonly unknown[] {
  const list = fieldOf(value, field);
  return Array.isArray(list) ? list : [];
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined;
}
