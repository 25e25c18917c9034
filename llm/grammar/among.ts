import type { NetworkState } from '../../core/state/state.ts';
import { deny, isolateTogether, othersOf } from './acts/forbid.ts';
import { allow } from './acts/grant.ts';
import { stay } from './acts/keep.ts';
import { effectOfChanges } from './loosened.ts';
import type { Step } from './perform.ts';
import { meantPorts, portList } from './port-entries.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { askOf, type Sides } from './sides.ts';
import { refuseExtras, type Statement } from './statements.ts';
import type { Subject } from './subject.ts';
import { worded } from './wording.ts';

/**
 * "Web-1 and db-1 may only reach each other": nobody else reaches them, and they reach nobody else. What they are open for
 * among themselves stays as it is, unless it is granted.
 *
 * @param pairs each two of them, both ways
 * @throws Refusal where a restriction would open what is closed today
 */
export function among(
  statement: Statement,
  pairs: readonly Sides[],
  all: readonly Subject[],
  state: NetworkState,
  now: number,
): Step[] {
  refuseExtras(statement, ['exclusive']);
  const { words, slots, until } = statement;
  const ports = meantPorts(statement);
  if (ports.length > 0) throw unclearPorts(statement);
  const askIn = (on: NetworkState, { sources, targets }: Sides) => askOf(statement, on, now, sources, targets);
  const isolates = words.some(({ sym }) => sym && ISOLATING.has(sym));
  const grants = words.some(({ sym }) => sym === 'LET');
  const isClosed = (pair: Sides) => effectOfChanges(allow(askIn(state, pair)).changes, state, now).openedPairs > 0;
  if (!isolates && !grants && pairs.some(isClosed)) {
    throw new Refusal(
      `${quoted(said(words))} restricts, and not all of them may reach each other today.`,
      ['Should they be opened to each other, or should only the others be closed?'],
      { choices: worded([ISOLATED, TOGETHER], slots, { ports: [], until }) },
    );
  }
  const between: Step[] = pairs.map((pair) => (on) => (isolates ? stay(askIn(on, pair), on) : allow(askIn(on, pair))));
  return [...between, closing(statement, all, now)];
}

/**
 * Closes everyone else to them, and them to everyone else unless only what reaches them is named; on the ports that are
 * named, where some are.
 */
export function closing(statement: Statement, all: readonly Subject[], now: number): Step {
  if (statement.exclusive === 'inward') return (on) => deny(askOf(statement, on, now, othersOf(all, on), all));
  return (on) => isolateTogether(askOf(statement, on, now, all, all));
}

const ISOLATING = new Set(['ISOLATE', 'CUT', 'DENY', 'MAY_NOT', 'ISOLATED', 'BLOCKED'] as const) as ReadonlySet<string>;
const ISOLATED = 'isolate {both} from everyone except each other';
const TOGETHER = 'let {both} reach each other{on} and nobody else';

/** "They may only reach each other on 5432": nobody else on that port, or nothing but that port either. */
function unclearPorts({ text, slots, ports, until }: Statement): Refusal {
  const limited = `limit access between {both} to ${portList(ports)}`;
  const narrow = worded([TOGETHER], slots, { ports, until });
  const [only, isolated] = worded([limited, ISOLATED], slots, { ports: [], until });
  return new Refusal(
    `It is not clear what ${quoted(portList(ports))} holds for in ${quoted(text)}: that port alone, or all that is left open.`,
    ['Should others be closed on these ports alone, or on every port?'],
    { choices: [...narrow, ...(only && isolated ? [`${only}; ${isolated}`] : [])] },
  );
}
