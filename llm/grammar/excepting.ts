import type { NetworkState } from '../../core/state/state.ts';
import { type Ask, beside } from './acts/ask.ts';
import { close, deny, type Isolation, isolate } from './acts/forbid.ts';
import { allow } from './acts/grant.ts';
import { keep, stay } from './acts/keep.ts';
import type { Step } from './perform.ts';
import { meantPorts } from './port-entries.ts';
import { quoted, Refusal, said } from './refusal.ts';
import { common, holds, meet, type Part, type Region, withoutPart } from './regions.ts';
import { askOf, type Sides, sidesOf } from './sides.ts';
import { refuseExtras, type Statement } from './statements.ts';
import { everyone, type Subject } from './subject.ts';
import { parseSubjects } from './subjects.ts';

interface Left extends Part {
  readonly kept: boolean;
}

/**
 * A statement of which parts are left out, as steps on what remains. Every connection that is left out stays as it is, and
 * every other one that is asked for is closed, or opened.
 *
 * @param pairs each two sides that the statement is about, one way
 * @throws Refusal where a part is not one of what is asked for
 */
export function excepting(statement: Statement, pairs: readonly Sides[], state: NetworkState, now: number): Step[] {
  const { wish, exceptions } = statement;
  refuseExtras(statement, ['exclusive']);
  const parts = exceptions.map(
    ({ source, target, ports, kept }): Left => ({
      ...(source && { sources: parseSubjects(source, state) }),
      ...(target && { targets: parseSubjects(target, state) }),
      ports,
      kept,
    }),
  );
  const askIn = (on: NetworkState, region: Region): Ask => ({
    ...askOf(statement, on, now, region.sources, region.targets),
    ports: region.ports,
  });
  const stays = (regions: readonly Region[], left: readonly Left[]): Step[] =>
    left.flatMap((part) =>
      regions
        .flatMap((region) => common(region, part) ?? [])
        .map((region) => (on: NetworkState) => (part.kept ? keep(askIn(on, region)) : stay(askIn(on, region), state))),
    );
  if (wish === 'isolate') {
    refuseExtras(statement, ['ports']);
    const [all, targets] = [[everyone(state)], pairs.flatMap((pair) => pair.targets)];
    const whole: Isolation = {
      inbound: [{ sources: all, targets, ports: [] }],
      outbound: [{ sources: targets, targets: all, ports: [] }],
    };
    refuseWithin(statement, parts, targets);
    const left = parts.map((part) => ({
      ...part,
      sources: part.sources ?? targets,
      targets: part.targets ?? targets,
    }));
    const regions = [...whole.inbound, ...whole.outbound];
    refuseStray(statement, regions, left);
    const rest: Isolation = {
      inbound: remaining(whole.inbound, left, state),
      outbound: remaining(whole.outbound, left, state),
    };
    refuseNothingLeft(statement, [...rest.inbound, ...rest.outbound]);
    return [(on) => isolate(askOf(statement, on, now, [], targets), rest), ...stays(regions, left)];
  }
  const whole = pairs.map((pair): Region => ({ ...pair, ports: meantPorts(statement) }));
  refuseStray(statement, whole, parts);
  const regions = remaining(whole, parts, state);
  refuseNothingLeft(statement, regions);
  if (wish === 'deny' || wish === 'separate') {
    return [...regions.map((region) => (on: NetworkState) => close(askIn(on, region))), ...stays(whole, parts)];
  }
  if (wish === 'allow' && !statement.exclusive && parts.every(({ kept }) => !kept)) {
    const cut = parts.flatMap((part) => whole.flatMap((region) => common(region, part) ?? []));
    return [
      ...regions.map((region) => (on: NetworkState) => allow(askIn(on, region))),
      ...cut.map((region) => (on: NetworkState) => beside(deny(askIn(on, region)))),
    ];
  }
  throw new Refusal(`It is not clear what the exception in ${quoted(statement.text)} leaves out.`, [
    'What should be open in the end, and what closed? Say it in two sentences.',
  ]);
}

/** "Isolate the databases except from db-1": to the other databases, or to everyone. */
function refuseWithin({ exceptions, text }: Statement, parts: readonly Part[], isolated: readonly Subject[]): void {
  const names = new Set(isolated.flatMap(({ peers }) => peers.map(({ name }) => name)));
  const at = parts.findIndex(({ sources, targets }) => {
    const only = sources && targets ? [] : (sources ?? targets ?? []);
    return only.some((one) => !one.everyone && one.peers.some(({ name }) => names.has(name)));
  });
  if (at < 0) return;
  const { source = [], target = [] } = exceptions[at] ?? {};
  const replace = source.length > 0 ? source : target;
  const [name, others] = [said(replace), source.length > 0 ? 'to everyone' : 'from everyone'];
  throw new Refusal(
    `${quoted(name)} is isolated by ${quoted(text)} itself, so it is not clear what is left out.`,
    ['Who, reaching whom, should be left out?'],
    { replace, by: [`${name} ${others}`] },
  );
}

function refuseNothingLeft(statement: Statement, regions: readonly Region[]): void {
  if (regions.length > 0) return;
  throw new Refusal(`Nothing is left of ${quoted(statement.text)}.`, ['What should be open or closed in the end?']);
}

/** Each exception is wholly a part of what is asked for, one way. */
function refuseStray(statement: Statement, regions: readonly Region[], parts: readonly Part[]): void {
  const at = parts.findIndex((part) => !regions.some((region) => holds(region, part) && common(region, part)));
  if (at < 0) return;
  const { source, target } = statement.exceptions[at] ?? {};
  const named = [source, target].flatMap((words) => (words ? [quoted(said(words))] : [])).join(' to ');
  throw new Refusal(
    `Not all of ${named} is a part of what ${quoted(statement.text)} is about, so it is not clear what is left out.`,
    ['Who, reaching whom, should be left out? Say "except <ports> from <source> to <target>".'],
  );
}

function remaining(whole: readonly Region[], parts: readonly Part[], state: NetworkState): Region[] {
  return parts.reduce<Region[]>(
    (regions, part) => regions.flatMap((region) => withoutPart(region, part, state)),
    [...whole],
  );
}

/** Whether one statement closes some of what another one wants open. */
export function closesSomeOf(closing: Statement, opening: Statement, state: NetworkState): boolean {
  if (!['deny', 'isolate', 'separate'].includes(closing.wish) || closing.slots['both'] || opening.slots['both'])
    return false;
  const [closed, opened] = [sidesOf(closing, state), sidesOf(opening, state)];
  const all = [everyone(state)];
  const region: Region = { ...opened, ports: [] };
  if (closing.wish === 'isolate')
    return (
      meet({ sources: all, targets: closed.targets, ports: [] }, region) ||
      meet({ sources: closed.targets, targets: all, ports: [] }, region)
    );
  return (
    meet({ ...closed, ports: [] }, region) ||
    (closing.wish === 'separate' && meet({ sources: closed.targets, targets: closed.sources, ports: [] }, region))
  );
}
