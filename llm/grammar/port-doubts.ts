import type { PortEntry } from '../../core/model/policy.ts';
import type { Token } from './lexicon.ts';
import { portList } from './port-entries.ts';
import { CLOSING, SCOPE_ENDS } from './port-places.ts';
import { quoted, Refusal, said } from './refusal.ts';

/** Where ports or a time stand from which it is not certain what they hold for. */
export interface Place {
  readonly tokens: readonly Token[];
  /** What stands before them, without what was taken out. */
  readonly rest: readonly Token[];
  readonly start: number;
  readonly end: number;
}

/** "Reach db on 5432 and cache": whether the port is meant for both cannot be known. */
export function refuseInsideOfList({ tokens, rest, end }: Place): void {
  const [separator, next] = [tokens[end], tokens[end + 1]];
  const goesOn = separator?.sym === 'AND' || separator?.sym === 'OR' || separator?.sym === 'COMMA';
  if (rest.length === 0 || !goesOn || next === undefined || next.sym !== undefined) return;
  throw new Refusal(`It is not clear whether what stands before ${quoted(next.text)} holds for it too.`, [
    'Should it hold for all of them? Then name them first and the ports or the time at the end; else say it in two sentences.',
  ]);
}

/** "Block everyone except web on 22 from db": whether the port is that of the exception cannot be known. */
export function refuseInsideOfException({ tokens, rest, start, end }: Place): void {
  const [verb] = rest;
  const except = rest.findLastIndex(({ sym }) => sym === 'EXCEPT');
  const closes = verb?.sym && CLOSING.has(verb.sym);
  if (except < 1 || !closes || rest.slice(except + 1).some(({ sym }) => sym && SCOPE_ENDS.has(sym))) return;
  throw new Refusal(
    `${quoted(said(tokens.slice(start, end)))} may belong to the exception ${quoted(said(rest.slice(except)))} or to all of it.`,
    ['Should it hold for all, or for the exception alone?'],
  );
}

/** "Let web reach db but on 5432": on that port alone, or on all others. */
export function unclearBut({ tokens, start, end }: Place, ports: readonly PortEntry[]): Refusal {
  const words = tokens.slice(start, end);
  return new Refusal(
    `${quoted(said(words))} can mean that port alone, or every other.`,
    ['Which ports should be open?'],
    { replace: words, by: [`on ${portList(ports)}`, `but not on ${portList(ports)}`] },
  );
}
