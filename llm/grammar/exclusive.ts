import { portList } from './port-entries.ts';
import { quoted, Refusal, said } from './refusal.ts';
import type { Statement } from './statements.ts';
import { worded } from './wording.ts';

/** "And nobody else", where it stands at an order of one direction. */

const TALKING = /\b(?:talk|speak|communicate|contact|call|query)/;

/**
 * "Web-1 may talk to db-1 and nobody else": nobody else to db-1, or web-1 to nobody else. "Let web reach db and nobody else"
 * is about who reaches it.
 *
 * @throws Refusal where either may be meant
 */
export function refuseUndirected(statement: Statement): void {
  const { wish, words, exclusive, slots, ports, until } = statement;
  const reach = words.findIndex(({ sym }) => sym === 'REACH');
  const isBehind = reach >= 0 && words.slice(reach).some(({ sym }) => sym === 'NOBODY_ELSE');
  const isOrder = words.some(({ sym }) => sym === 'LET' || sym === 'OPEN');
  const talks = words.some(({ sym, text }) => sym === 'REACH' && TALKING.test(text));
  if (wish !== 'allow' || exclusive !== 'in' || !isBehind || (isOrder && !talks)) return;
  const inward = worded(['let only {source} reach {target}{on}'], slots, { ports, until });
  const [granted] = worded(['let {source} reach {target}{on}'], slots, { ports, until });
  const [whole] = worded(['limit access to {target} to {source}{on}'], slots, { ports, until });
  const closing = granted && whole ? [`${granted}; ${whole}`] : [];
  throw new Refusal(
    `${quoted(said(words))} can mean that nobody else reaches ${quoted(said(slots['target'] ?? []))}, or that ${quoted(said(slots['source'] ?? []))} reaches nobody else.`,
    ['Which of the two is meant?'],
    { choices: [...inward, ...closing, ...outwardChoices(statement)] },
  );
}

/** "On 5432 and to nobody else": whether other ports of the one that is named stay open is not said. */
export function unclearOutward(statement: Statement): Refusal {
  const list = portList(statement.ports);
  return new Refusal(
    `It is not clear whether ${quoted(said(statement.slots['target'] ?? []))} should stay open on other ports than ${list}.`,
    ['Should other ports of it be closed as well as all others?'],
    { choices: outwardChoices(statement) },
  );
}

function outwardChoices({ slots, ports, until }: Statement): string[] {
  const one = (template: string, on: Statement['ports'] = []) => worded([template], slots, { ports: on, until });
  if (ports.length === 0) return one('let {source} reach only {target}');
  const [granted] = one('let {source} reach {target}{on}', ports);
  const closings = [
    ...one('block {source} from everyone except {target}'),
    ...one(`block {source} from everyone except ${portList(ports)} to {target}`),
  ];
  return granted ? closings.map((closing) => `${granted}; ${closing}`) : [];
}
