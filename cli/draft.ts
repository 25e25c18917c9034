import { isObject } from '../core/base/is-object.ts';
import type { Verb } from '../core/intent/orders/order.ts';
import { CliError } from './exit.ts';
import { flagOf } from './flag.ts';
import { COMMAND_OF, OPTION_OF } from './order-words.ts';
import { visibleTexts } from './visible.ts';

/** A part of an order that was not understood. */
const EMPTY = '…';

/**
 * Adds the draft of a sentence that was not understood: its orders as commands, to be completed.
 *
 * @throws CliError with the lines of the draft; any other error as it is
 */
export function rethrowWithDraft(error: unknown): never {
  if (!(error instanceof CliError) || error.code !== 'intent_not_understood') throw error;
  const { draft, vocabulary } = visibleTexts(error.problem);
  const orders = listIn(draft, 'orders').filter(isObject).map(commandText);
  const near = listIn(vocabulary, 'near').filter(isObject).map(nearText);
  const lines = [
    error.message,
    ...(orders.length > 0 ? [`Draft, with ${EMPTY} for what to fill in:`, ...orders.map((line) => `  ${line}`)] : []),
    ...(near.length > 0 ? ['Not known:', ...near.map((line) => `  ${line}`)] : []),
  ];
  throw new CliError(lines.join('\n'), error.exitCode, error.problem);
}

function listIn(value: unknown, field: string): readonly unknown[] {
  const list = isObject(value) ? value[field] : undefined;
  return Array.isArray(list) ? list : [];
}

function nearText(near: Readonly<Record<string, unknown>>): string {
  return `${near['word']}: did you mean ${listIn(near, 'names').join(' or ')}?`;
}

/** Returns an order as the command that says it. */
function commandText(order: Readonly<Record<string, unknown>>): string {
  const ends = (['from', 'to'] as const).map((side) => argument(listIn(order, side).join(' ')));
  const options = Object.entries(order).flatMap(([field, value]) => {
    if (['do', 'from', 'to'].includes(field) || value === undefined || value === false) return [];
    const flag = OPTION_OF[field] ?? flagOf(field);
    return value === true ? [flag] : [value].flat().map((one) => `${flag} ${argument(String(one))}`);
  });
  return ['mesh', COMMAND_OF[order['do'] as Verb] ?? EMPTY, ...ends, ...options].join(' ');
}

/** Returns a text as one argument of a shell. */
function argument(text: string): string {
  if (text === '') return EMPTY;
  return /^[\w=.,:/@+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
