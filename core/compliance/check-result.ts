import type { StoredRecord } from '../base/record.ts';

/** The result of a check for one state, or for the present. */
export interface CheckResult {
  /** Undefined where there is nothing to judge. */
  readonly holds: boolean | undefined;
  /** The facts behind the result, in short sentences. */
  readonly facts: string;
}

/** Names in one text; with more, the rest is counted. */
const LISTED = 5;

/** Some of a list in words: `a, b and 3 more`. */
export function listed(texts: readonly string[], shown = LISTED, separator = ', '): string {
  const left = texts.length - shown;
  if (left <= 0) return texts.join(separator);
  return `${texts.slice(0, shown).join(separator)} and ${left} more`;
}

/** Records by name and id: both can be looked up, and a name may have been another's. */
export function named(records: readonly Pick<StoredRecord, 'name' | 'uid'>[]): string {
  return listed(records.map(({ name, uid }) => `${name} (${uid})`));
}

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

export function nothing(facts: string): CheckResult {
  return { holds: undefined, facts };
}

/** Fails with what is wrong, where something is. */
export function holdsUnless(faults: readonly string[], facts: string): CheckResult {
  if (faults.length === 0) return { holds: true, facts };
  return { holds: false, facts: `${listed(faults, MAX_FAULTS)}.` };
}

/** Faults told of one state. */
const MAX_FAULTS = 4;
