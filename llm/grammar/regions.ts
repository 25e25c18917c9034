import type { PortEntry } from '../../core/model/policy.ts';
import type { NetworkState } from '../../core/state/state.ts';
import { otherPorts, portsIn } from './port-entries.ts';
import { isRange } from './ranges.ts';
import { quoted, Refusal } from './refusal.ts';
import type { Subject } from './subject.ts';
import { exclude } from './subjects.ts';

/** Connections from all of the sources to all of the targets. No ports: all of them. */
export interface Region {
  readonly sources: readonly Subject[];
  readonly targets: readonly Subject[];
  readonly ports: readonly PortEntry[];
}

/** A part of a region; a side that is not named is the whole of it. */
export interface Part {
  readonly sources?: readonly Subject[] | undefined;
  readonly targets?: readonly Subject[] | undefined;
  readonly ports: readonly PortEntry[];
}

/** What a region and a part of what is asked for have in common; undefined where that is nothing. */
export function common({ sources, targets, ports }: Region, part: Part): Region | undefined {
  const shared = {
    sources: sharedOf(sources, part.sources ?? sources),
    targets: sharedOf(targets, part.targets ?? targets),
    ports: part.ports.length > 0 ? portsIn(part.ports, ports) : ports,
  };
  const none = shared.sources.length === 0 || shared.targets.length === 0;
  return none || (part.ports.length > 0 && shared.ports.length === 0) || isOneself(shared) ? undefined : shared;
}

/** Whether all of a part is within a region. */
export function holds({ sources, targets, ports }: Region, part: Part): boolean {
  const beyond = part.ports.length > 0 && ports.length > 0 ? portsIn(otherPorts(ports), part.ports) : [];
  return covers(sources, part.sources ?? sources) && covers(targets, part.targets ?? targets) && beyond.length === 0;
}

/**
 * What is left of a region without what it shares with a part, as regions that do not meet:
 * `a, b > x, y : all` without `b > y : 22` is `a > x, y : all`, `b > x : all` and `b > y : all but 22`.
 */
export function withoutPart(region: Region, part: Part, state: NetworkState): Region[] {
  const cut = common(region, part);
  if (!cut) return [region];
  const { sources, targets, ports } = region;
  const otherSources = remainder(sources, cut.sources, state);
  const otherTargets = remainder(targets, cut.targets, state);
  const otherEntries = part.ports.length > 0 ? portsIn(otherPorts(part.ports), ports) : [];
  return [
    ...(otherSources.length > 0 ? [{ sources: otherSources, targets, ports }] : []),
    ...(otherTargets.length > 0 ? [{ sources: cut.sources, targets: otherTargets, ports }] : []),
    ...(otherEntries.length > 0 ? [{ sources: cut.sources, targets: cut.targets, ports: otherEntries }] : []),
  ];
}

/** Those of a part that are in a group too. @throws Refusal where some are and some are not. */
function sharedOf(group: readonly Subject[], part: readonly Subject[]): readonly Subject[] {
  if (part === group || part.some(({ everyone }) => everyone)) return group;
  if (group.some(({ everyone }) => everyone)) return part;
  const found = part.flatMap((one) =>
    group.flatMap((other) => {
      if (isOutside(one, other)) return [one];
      const [mine, theirs] = [namesIn([one]), namesIn([other])];
      if (isAmong(mine, theirs)) return [one];
      if (isAmong(theirs, mine)) return [other];
      if ([...mine].every((name) => !theirs.has(name))) return [];
      throw new Refusal(`Only some of ${quoted(one.noun)} are among ${quoted(other.noun)}.`, [
        'Which of them are left out? Name them.',
      ]);
    }),
  );
  return found.filter((one, index) => found.findIndex(({ noun }) => noun === one.noun) === index);
}

/** A range of addresses is a part of everyone but some. */
function isOutside(one: Subject, group: Subject): boolean {
  return isRange(one) && group.outsiders.length > 0;
}

function covers(group: readonly Subject[], part: readonly Subject[]): boolean {
  if (part === group || [...group, ...part].some(({ everyone }) => everyone)) return true;
  return part.every((one) => one.selector !== undefined) && isAmong(namesIn(part), namesIn(group));
}

function remainder(group: readonly Subject[], cut: readonly Subject[], state: NetworkState): readonly Subject[] {
  if (cut === group || cut.some(({ everyone }) => everyone)) return [];
  const names = namesIn(cut);
  const left = group.filter(
    (one) => one.everyone || one.outsiders.length > 0 || one.peers.some(({ name }) => !names.has(name)),
  );
  if (left.length === 0) return [];
  const mine = cut.filter((one) =>
    left.some((other) => other.everyone || isOutside(one, other) || isAmong(namesIn([one]), namesIn([other]))),
  );
  return mine.length === 0 ? left : exclude(left, mine, state);
}

function isOneself({ sources, targets }: Region): boolean {
  if ([...sources, ...targets].some((one) => one.everyone || one.selector === undefined)) return false;
  const [from, to] = [namesIn(sources), namesIn(targets)];
  return from.size === 1 && to.size === 1 && isAmong(from, to);
}

function namesIn(group: readonly Subject[]): ReadonlySet<string> {
  return new Set(group.flatMap(({ peers }) => peers.map(({ name }) => name)));
}

function isAmong(some: ReadonlySet<string>, all: ReadonlySet<string>): boolean {
  return some.size > 0 && [...some].every((name) => all.has(name));
}

/** Whether two regions have a connection in common, by the peers of today. */
export function meet(one: Region, other: Region): boolean {
  return share(one.sources, other.sources) && share(one.targets, other.targets);
}

function share(one: readonly Subject[], other: readonly Subject[]): boolean {
  const names = namesIn(one);
  return other.some(({ peers }) => peers.some(({ name }) => names.has(name)));
}
