import type { Act } from './forms.ts';
import { match, patternOf } from './match.ts';
import type { Names } from './names.ts';
import type { Reading } from './reading.ts';
import { Refusal } from './refusal.ts';
import { readSide } from './sides.ts';
import type { Token } from './token.ts';

/** Sentences that go back to the one before: "also on 443", "only for 2 hours", "the same for ci". */
const AMENDMENTS = (
  [
    ['more ports', 'ALSO PORTS'],
    ['other ports', 'MAKE PRONOUN|LAST PORTS|ACCESS'],
    ['other ports', 'PORTS INSTEAD'],
    ['other end', 'TIME'],
    ['other end', 'MAKE PRONOUN|LAST ONLY? TIME'],
    ['same from', 'SAME FOR {from}'],
    ['same from', 'ALSO FOR {from}'],
    ['same to', 'ALSO TO {to}'],
  ] as const
).map(([kind, text]) => ({ kind, pattern: patternOf(text) }));

const AMENDABLE: ReadonlySet<Act> = new Set(['allow', 'deny', 'isolate', 'only', 'revoke', 'separate']);
const IDLE: ReadonlySet<Token['sym']> = new Set(['POLITE', 'COMMA', 'STOP']);

/**
 * Returns the order before as a sentence amends it; undefined for a sentence that stands by itself.
 *
 * @throws Refusal where there is no order before that it can amend
 */
export function amended(tokens: readonly Token[], last: Reading | undefined, names: Names): Reading | undefined {
  const plain = tokens.filter(({ sym }) => !IDLE.has(sym));
  const ends = plain.flatMap(({ until }) => (until ? [until] : []));
  const rest =
    plain.length > 1 && plain.some(({ sym }) => sym === 'PORTS') ? plain.filter(({ sym }) => sym !== 'TIME') : plain;
  const found = AMENDMENTS.flatMap(({ kind, pattern }) => {
    const slots = match(pattern, rest);
    return slots ? [{ kind, slots }] : [];
  })[0];
  if (!found) return undefined;
  const [until, second] = ends;
  const isTold = last && AMENDABLE.has(last.act) && last.spared.length === 0 && !second;
  if (!isTold)
    throw new Refusal('It is not clear which order this goes back to.', ['Who should reach whom? Say all of it.']);
  const next: Reading = { ...last, ...(until && { until }) };
  const ports = rest.find((token) => token.ports)?.ports ?? [];
  const isPlain = last.ports.length > 0 && ![...last.ports, ...ports].some((word) => word.startsWith('!'));
  const side = (slot: 'from' | 'to') => readSide(found.slots[slot] ?? [], names, false);
  switch (found.kind) {
    case 'other end':
      return next;
    case 'more ports':
    case 'other ports':
      if (!isPlain || ports.length === 0) break;
      return { ...next, ports: found.kind === 'other ports' ? ports : [...new Set([...last.ports, ...ports])] };
    case 'same from':
    case 'same to':
      if (last.both || last.act === 'isolate') break;
      return found.kind === 'same from' ? { ...next, from: side('from') } : { ...next, to: side('to') };
    default:
      return found.kind satisfies never;
  }
  throw new Refusal('The order before cannot be changed so.', [
    'Who should reach whom, on which ports? Say all of it.',
  ]);
}
