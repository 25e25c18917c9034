import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { type Ask, between, nounsOf } from './acts/ask.ts';
import { allow, forbiddingOf } from './acts/grant.ts';
import { effectOfChanges } from './loosened.ts';
import type { Slots } from './match.ts';
import { portList, portText } from './port-entries.ts';
import { attempt, quoted, Refusal, said } from './refusal.ts';
import type { Statement } from './statements.ts';
import { worded } from './wording.ts';

/** "Let only web reach db" grants it; "only web may reach db" restricts, and may not be meant to open anything. */
export function isGrant({ words }: Statement): boolean {
  return words.some(({ sym }) => sym === 'LET' || sym === 'OPEN');
}

/** Whether some of what is asked for is closed today, whatever may open it. */
export function isPartlyClosed(ask: Ask): boolean {
  return unmetExpectations(between(ask, 'allow'), ask.state, compile(modelOf(ask.state, ask.now))).length > 0;
}

/** Whether a pair of what is asked for is closed, and no DENY holds it: a grant would open it. */
export function isHeldElsewhere(ask: Ask): boolean {
  return ask.sources.some((source) =>
    ask.targets.some((target) => {
      const pair: Ask = { ...ask, sources: [source], targets: [target] };
      return forbiddingOf(pair).length === 0 && isPartlyClosed(pair);
    }),
  );
}

/** @throws Refusal where a restriction would open what is closed today. */
export function refuseOpening(statement: Statement, ask: Ask): void {
  if (!isPartlyClosed(ask)) return;
  const scoped = ask.ports.length > 0;
  const limiting = scoped ? 'block everyone except {source} from {target}{on}' : 'limit access to {target} to {source}';
  const inward = statement.wish === 'only';
  const closing = inward ? limiting : 'block {source} from everyone except {target}';
  const granting = inward ? 'let only {source} reach {target}{on}' : 'let {source} reach only {target}';
  const slots = withOwnExceptions(statement, ask);
  const isNobody = statement.words.some(({ sym }) => sym === 'NOBODY');
  const which = slots === statement.slots && !isNobody ? '' : ' Which of the two is meant?';
  throw new Refusal(
    `${quoted(said(statement.words))} restricts, and some of it is closed today: ${nounsOf(ask.sources)} may not reach all of ${nounsOf(ask.targets)}.`,
    [`Should that be opened${scoped ? '' : ' on every port'}, or should only the others be closed?${which}`],
    {
      choices: worded([closing, granting], slots, {
        ports: ask.ports,
        until: statement.until,
      }),
    },
  );
}

/** "Only web may reach db, except web-1": what stands at the end is left out of those who reach. */
function withOwnExceptions({ slots }: Statement, { sources, targets }: Ask): Slots {
  const { source = [], target = [] } = slots;
  const at = target.findIndex(({ sym }) => sym === 'EXCEPT');
  const isOfSources = sources.some(({ excepted }) => excepted.length > 0);
  if (at < 1 || !isOfSources || targets.some(({ excepted }) => excepted.length > 0)) return slots;
  const end = target[at - 1]?.sym === 'COMMA' ? at - 1 : at;
  return { ...slots, source: [...source, ...target.slice(at)], target: target.slice(0, end) };
}

/** "Only https may reach web", where not everyone may. @throws Refusal */
export function refuseOpeningPorts({ words, slots, until }: Statement, ask: Ask): void {
  const granted = attempt(() => allow(ask));
  if (granted && effectOfChanges(granted.changes, ask.state, ask.now).openedPairs === 0) return;
  const list = [{ text: portList(ask.ports), quoted: false }];
  const beside = { ports: ask.ports, until };
  const [limiting] = worded(['limit {target} to {list}'], { ...slots, list }, { ...beside, ports: [] });
  const [granting] = worded(['let everyone reach {target}{on}'], slots, beside);
  throw new Refusal(
    `${quoted(said(words))} restricts, and not everyone may reach all of ${nounsOf(ask.targets)} on ${portText(ask.ports)} today.`,
    ['Should that be opened to everyone, or should only other ports be closed?'],
    { choices: limiting && granting ? [limiting, `${granting}; ${limiting}`] : [] },
  );
}
