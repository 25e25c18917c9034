import type { PortEntry } from '../../network/policy.ts';
import type { NetworkState } from '../../network/state.ts';
import { otherPorts, portsIn } from './ports.ts';
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

/**
 * What is left of a region without a part of it, as regions that do not meet:
 * `a, b > x, y : all` without `b > y : 22` is `a > x, y : all`, `b > x : all` and `b > y : all but 22`.
 *
 * @throws Refusal when the part is not within the region.
 */
export function withoutPart({ sources, targets, ports }: Region, part: Part, state: NetworkState): Region[] {
  const otherSources = remainder(sources, part.sources, state);
  const otherTargets = remainder(targets, part.targets, state);
  const ownSources = within(sources, part.sources);
  const ownTargets = within(targets, part.targets);
  const otherEntries = part.ports.length > 0 ? portsIn(otherPorts(part.ports), ports) : [];
  return [
    ...(otherSources.length > 0 ? [{ sources: otherSources, targets, ports }] : []),
    ...(otherTargets.length > 0 ? [{ sources: ownSources, targets: otherTargets, ports }] : []),
    ...(otherEntries.length > 0 ? [{ sources: ownSources, targets: ownTargets, ports: otherEntries }] : []),
  ];
}

function within(group: readonly Subject[], part: readonly Subject[] | undefined): readonly Subject[] {
  return part === undefined || part.some(({ everyone }) => everyone) ? group : part;
}

function remainder(
  group: readonly Subject[],
  part: readonly Subject[] | undefined,
  state: NetworkState,
): readonly Subject[] {
  if (part === undefined || part.some(({ everyone }) => everyone)) return [];
  const cut = new Set(part.flatMap(({ peers }) => peers.map(({ name }) => name)));
  const left = group.filter((one) => one.everyone || one.peers.some(({ name }) => !cut.has(name)));
  return left.length === 0 ? [] : exclude(left, part, state);
}

/** Whether two regions have a connection in common, by the peers of today. */
export function meet(one: Region, other: Region): boolean {
  return share(one.sources, other.sources) && share(one.targets, other.targets);
}

function share(one: readonly Subject[], other: readonly Subject[]): boolean {
  const names = new Set(one.flatMap(({ peers }) => peers.map(({ name }) => name)));
  return other.some(({ peers }) => peers.some(({ name }) => names.has(name)));
}
