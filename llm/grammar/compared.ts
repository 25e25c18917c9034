import type { NetworkChange } from '../../core/changes/changes.ts';
import type { Account } from './account.ts';
import type { Slots } from './match.ts';
import type { At } from './suggest-atoms.ts';

/** A choice, and what it comes to. */
export interface Offered {
  readonly text: string;
  readonly changes: readonly NetworkChange[];
  /** Who and whom each of its orders names. */
  readonly orders: readonly Slots[];
  /** Asked by a form of the grammar: the question says what it fills in. */
  readonly asked: boolean;
}

/** A question that asks which of its own readings is meant, each of which is a choice and differs from the others in this. */
export function isReading({ choice, told }: Pick<Compared, 'choice' | 'told'>): boolean {
  return choice.asked && told.some((one) => /\bWhich of (?:the two|these|them) is meant\b/.test(one));
}

/** "Everyone except ci except ops": the question names both, and the choice leaves them out together. */
export function joinsExceptions(compared: Pick<Compared, 'choice' | 'told'>): boolean {
  return isReading(compared) && compared.told.some((one) => one.includes('leaves out more'));
}

/** The part of one order that no DENY forbids: the question says what it leaves out. */
export function isOpenPart({ text, asked }: Offered, told: readonly string[]): boolean {
  return asked && text.startsWith('let ') && told.some((one) => one.endsWith(OPEN_PART));
}

export const OPEN_PART = 'Which part is meant? The choice opens all the others.';

export interface Compared extends At {
  readonly said: Account;
  readonly offered: Account;
  readonly choice: Offered;
  readonly told: readonly string[];
}
