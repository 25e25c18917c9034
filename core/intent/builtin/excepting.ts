import type { NetworkState } from '../../network/state.ts';
import type { Ask } from './acts/ask.ts';
import { deny, isolate } from './acts/forbid.ts';
import { allow } from './acts/grant.ts';
import { keep } from './acts/keep.ts';
import { meantPorts } from './modifiers.ts';
import type { Step } from './perform.ts';
import { quoted, Refusal } from './refusal.ts';
import { meet, type Part, type Region, withoutPart } from './regions.ts';
import { askOf, type Sides, sidesOf } from './sides.ts';
import { refuseExtras, type Statement } from './statements.ts';
import { everyone } from './subject.ts';
import { parseSubjects } from './subjects.ts';

/** A statement of which parts are left out, as steps on what remains. */
export function excepting(statement: Statement, { sources, targets }: Sides, state: NetworkState, now: number): Step[] {
  const { wish, exceptions } = statement;
  const parts = exceptions.map(({ source, target, ports, kept }) => ({
    ...(source && { sources: parseSubjects(source, state) }),
    ...(target && { targets: parseSubjects(target, state) }),
    ports,
    kept,
  }));
  refuseExtras(statement, ['exclusive']);
  const askIn = (on: NetworkState, region: Region): Ask => ({
    ...askOf(statement, on, now, region.sources, region.targets),
    ports: region.ports,
  });
  if (wish === 'isolate') {
    refuseExtras(statement, ['ports']);
    const all = [everyone(state)];
    const [inward, outward] = [parts.filter((part) => part.sources), parts.filter((part) => part.targets)];
    const inbound = remaining(
      { sources: all, targets, ports: [] },
      inward.map(({ targets: _, ...part }) => part),
      state,
    );
    const outbound = remaining(
      { sources: targets, targets: all, ports: [] },
      outward.map(({ sources: _, ...part }) => part),
      state,
    );
    const kept = [
      ...inward
        .filter((part) => part.kept)
        .map((part) => ({ sources: part.sources ?? all, targets, ports: part.ports })),
      ...outward
        .filter((part) => part.kept)
        .map((part) => ({ sources: targets, targets: part.targets ?? all, ports: part.ports })),
    ];
    return [
      (on) => isolate(askOf(statement, on, now, [], targets), { inbound, outbound }),
      ...kept.map((region) => (on: NetworkState) => keep(askIn(on, region))),
    ];
  }
  const whole: Region = { sources, targets, ports: meantPorts(statement) };
  const regions = remaining(whole, parts, state);
  if (regions.length === 0)
    throw new Refusal(`Nothing is left of ${quoted(statement.text)}.`, ['What should be open or closed in the end?']);
  const cut = parts.map((part): Region & { kept: boolean } => ({
    sources: part.sources ?? sources,
    targets: part.targets ?? targets,
    ports: part.ports.length > 0 ? part.ports : whole.ports,
    kept: part.kept,
  }));
  if (wish === 'deny') {
    return [
      ...regions.map((region) => (on: NetworkState) => deny(askIn(on, region))),
      ...cut.filter(({ kept }) => kept).map((region) => (on: NetworkState) => keep(askIn(on, region))),
    ];
  }
  if (wish === 'allow' && !statement.exclusive && parts.every(({ kept }) => !kept)) {
    return [
      ...regions.map((region) => (on: NetworkState) => allow(askIn(on, region))),
      ...cut.map((region) => (on: NetworkState) => deny(askIn(on, region))),
    ];
  }
  throw new Refusal(`It is not clear what the exception in ${quoted(statement.text)} leaves out.`, [
    'What should be open in the end, and what closed? Say it in two sentences.',
  ]);
}

function remaining(whole: Region, parts: readonly Part[], state: NetworkState): Region[] {
  return parts.reduce<Region[]>(
    (regions, part) => regions.flatMap((region) => withoutPart(region, part, state)),
    [whole],
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
