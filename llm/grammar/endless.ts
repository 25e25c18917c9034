import { type NetworkChange, planChanges } from '../../core/changes/changes.ts';
import { portsOf, spansOf, subtract } from '../../core/effect/port-spans.ts';
import type { Expectation } from '../../core/intent/verify/expectation.ts';
import { unmetExpectations } from '../../core/intent/verify/expectations.ts';
import { compile } from '../../core/reachability/engine.ts';
import { modelOf } from '../../core/state/network-model.ts';
import { between } from './acts/ask.ts';
import { momentText } from './moment-text.ts';
import { meantPorts } from './port-entries.ts';
import { enumerated, quoted } from './refusal.ts';
import { askOf, sidesOf } from './sides.ts';
import type { Statement } from './statements.ts';
import type { At } from './suggest-atoms.ts';

/** Pairs that are looked at one by one. */
const MAX_PAIRS = 400;
const SHOWN = 4;

/**
 * Access that is asked for until some time and is open then all the same: the grant ends, and what is open already does
 * not. Said as a question for each order of which some is.
 */
export function endlessIn(statements: readonly Statement[], changes: readonly NetworkChange[], at: At): string[] {
  return statements.flatMap((statement) => {
    const { wish, until, zone, slots, exclusive, mutual } = statement;
    if (wish !== 'allow' || until === undefined || exclusive || mutual || slots['both']) return [];
    const later = planChanges(at.state, changes, at.now).after;
    const open = openAt(statement, { ...at, state: later, now: until });
    if (open.length === 0) return [];
    const all = changes.length === 0 ? 'nothing changes, and it does not end then' : 'that does not end then';
    return [
      `${enumerated(open, SHOWN)} ${open.length > 1 ? 'are' : 'is'} open already, beyond ${momentText(until, zone)}: ${all}. Should it be closed to others for that time? Then add "and nobody else".`,
    ];
  });
}

/** The pairs of an order that are open at some time, with the ports that are. */
function openAt(statement: Statement, at: At): string[] {
  const { sources, targets } = sidesOf(statement, at.state);
  const reach = compile(modelOf(at.state, at.now));
  const ports = meantPorts(statement);
  const asked =
    ports.length > 0 ? ports.flatMap(({ protocol = 'TCP', ...rest }) => portsOf({ protocol, ...rest })) : portsOf({});
  const isOpen = (src: string, dst: string) =>
    JSON.stringify(subtract(asked, spansOf(reach.allowed(src, dst)))) !== JSON.stringify(asked);
  const names = (side: typeof sources) => [...new Set(side.flatMap(({ peers }) => peers.map(({ name }) => name)))];
  const [from, to] = [names(sources), names(targets)];
  if (from.length * to.length <= MAX_PAIRS && from.length > 0 && to.length > 0)
    return from.flatMap((src) => {
      const open = to.filter((dst) => dst !== src && isOpen(src, dst));
      return open.length === 0 ? [] : [`${quoted(src)} to ${enumerated(open.map(quoted), SHOWN)}`];
    });
  const ask = askOf(statement, at.state, at.now, sources, targets);
  return between(ask, 'deny')
    .filter((one: Expectation) => unmetExpectations([one], at.state, reach).length > 0)
    .map(({ src, dst }) => `${src === '*' ? 'everyone' : src} to ${dst === '*' ? 'everyone' : dst}`);
}
