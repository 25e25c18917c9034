import type { Ask } from './acts/ask.ts';
import { forbiddingOf } from './acts/grant.ts';
import { OPEN_PART } from './compared.ts';
import { portList } from './port-entries.ts';
import { enumerated, quoted, Refusal } from './refusal.ts';
import { askOf, sidesOf } from './sides.ts';
import type { Statement } from './statements.ts';
import { onePeer } from './subject.ts';
import { parseSubjects } from './subjects.ts';
import type { At } from './suggest-atoms.ts';

/** Pairs that are looked at one by one. */
const MAX_PAIRS = 36;
const SHOWN = 4;

/**
 * A grant that a DENY forbids a part of, with what it does not forbid as a choice, peer by peer, and who is held by which.
 * The same refusal where there is no such part.
 */
export function withOpenPart(refusal: Refusal, statement: Statement, { state, now }: At): Refusal {
  const { wish, slots, exclusive, mutual, exceptions, spared, until } = statement;
  const isPlain = wish === 'allow' && !exclusive && !mutual && exceptions.length + spared.length === 0;
  const [group, second] = slots['both'] ? parseSubjects(slots['both'], state) : [];
  if (!isPlain || until !== undefined || second) return refusal;
  const { sources, targets } = group ? { sources: [group], targets: [group] } : sidesOf(statement, state);
  if ([...sources, ...targets].some(({ everyone, selector }) => everyone || !selector)) return refusal;
  const [from, to] = [sources, targets].map((side) => [...new Set(side.flatMap(({ peers }) => peers))]);
  if (!from || !to || from.length * to.length > MAX_PAIRS) return refusal;
  const rows = from.map((source) => {
    const others = to.filter((target) => target !== source);
    const ask = (target: typeof source): Ask => askOf(statement, state, now, [onePeer(source)], [onePeer(target)]);
    const held = others.flatMap((target) => forbiddingOf(ask(target)).map(({ name }) => ({ name, target })));
    return { source, held, free: others.filter((target) => held.every((one) => one.target !== target)) };
  });
  const held = rows.filter((row) => row.held.length > 0);
  const free = rows.filter((row) => row.free.length > 0);
  if (held.length === 0 || free.length === 0) return refusal;
  const on = statement.ports.length > 0 ? ` on ${portList(statement.ports)}` : '';
  const part = free.map((row) => `let ${row.source.name} reach ${row.free.map(({ name }) => name).join(' and ')}${on}`);
  const forbidden = held.flatMap((row) =>
    row.held.map(({ name, target }) => `${quoted(name)} forbids ${row.source.name} to reach ${target.name}`),
  );
  return new Refusal(refusal.message, [`${enumerated(forbidden, SHOWN)}. ${OPEN_PART}`, ...refusal.questions], {
    ...refusal.offers,
    choices: [part.join('; '), ...(refusal.offers.choices ?? [])],
  });
}
