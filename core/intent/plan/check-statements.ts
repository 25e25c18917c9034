/** Imports nothing: the dashboard says the same as the control plane. */

type Check = 'matches' | 'differs' | 'not checked';

/** The fields of a plan or workflow, as answers have them. */
export interface CheckedPlan {
  readonly check: Check;
  readonly expectations_hold: boolean | null;
  readonly orders?: readonly unknown[] | undefined;
  readonly read_by: string | null;
}

export interface CheckStatement {
  readonly check: Check;
  readonly text: string;
}

/** Finished changes, against the sentence. */
const CHANGES = {
  matches: 'The effect matches what is listed below. Check that this is what you intended.',
  'not checked':
    'The built-in reader cannot confirm that the changes are what the sentence asks for. Review them yourself.',
  differs: 'The effect is not what the sentence says.',
} as const;

/** A sentence beside orders, against these. */
const SENTENCE = {
  matches: 'The sentence says the same.',
  'not checked': 'The built-in reader cannot confirm that the sentence says the same. Review the orders yourself.',
  differs: 'The sentence says something else than the orders.',
} as const;

const AGAINST = 'What stands below speaks against it.';
const OPEN = 'A question is open, or a part of the effect is not known. Review it yourself.';

/**
 * Returns what was checked and what was not: the effect against the orders or the demands that came with the changes, and
 * either against the sentence, by the built-in reader.
 *
 * @param isQuoted a sentence of its own stands beside the orders
 * @param hasObjections something speaks against the change, such as an order that is not met
 */
export function checkStatements(plan: CheckedPlan, isQuoted: boolean, hasObjections: boolean): CheckStatement[] {
  const { check, expectations_hold: hold, orders, read_by: readBy } = plan;
  if (!orders) {
    const meets = hold ? 'meets' : 'does not meet';
    const demands = {
      check: asCheck(hold === true),
      text: `The effect ${meets} the demands that came with the changes.`,
    };
    const changes = { check, text: CHANGES[check] };
    return hold === null ? [changes] : joined(demands, changes);
  }
  const isAsOrdered = hold ?? check !== 'differs';
  const isOpen = check === 'not checked' && hold === null;
  const isAgainst = hold === null && isAsOrdered && hasObjections;
  const ordered = {
    check: asCheck(isAsOrdered && !isAgainst),
    text: isAgainst ? AGAINST : isAsOrdered ? 'Effect matches the orders.' : 'Effect does not match the orders.',
  };
  if (!isQuoted && !isOpen && (check !== 'differs' || !isAsOrdered)) return [ordered];
  return joined(ordered, { check, text: isOpen && readBy === 'language' ? OPEN : SENTENCE[check] });
}

function asCheck(isMet: boolean): Check {
  return isMet ? 'matches' : 'differs';
}

/** Returns two statements with the same word as one; nothing that matches stands beside what differs. */
function joined(one: CheckStatement, other: CheckStatement): CheckStatement[] {
  const isOne = one.check === other.check || other.check === 'differs';
  return isOne ? [{ check: other.check, text: `${one.text} ${other.text}` }] : [one, other];
}
