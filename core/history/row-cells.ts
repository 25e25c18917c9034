import { getOrInsertComputed } from '../base/get-or-insert.ts';
import { hasEnded } from '../base/time.ts';
import type { Ranges } from '../model/ranges.ts';
import type { Engine } from '../reachability/engine.ts';
import type { ExternalInput, PolicyInput } from '../reachability/model.ts';
import { externalOf, networksOf, type OutsideGroup, outsideGroups, stretchesOf } from '../reachability/outside.ts';
import type { AllowedPorts } from '../reachability/port-sets.ts';
import type { BlockCode } from '../reachability/program.ts';
import { type DiffRow, diffGroups } from '../reachability/reach-diff.ts';
import type { Reachability } from '../reachability/reachability.ts';
import { modelOf, networkInputs, peerInputs, policyInputs } from '../state/network-model.ts';
import type { NetworkState } from '../state/state.ts';
import { isForwards, type Moment } from './moment.ts';
import { isDelegated, type RecordDifference, type RevertibleChange, withReverted } from './record-differences.ts';

/** Connections that differ alike, whichever of the changes is taken back: every `src` to every `dst` other than itself. */
export interface Cell extends Omit<DiffRow, 'src' | 'dst'> {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  /** Ends that stand for all others: names of peers, or of the external that stands for addresses. */
  readonly example: Pick<DiffRow, 'src' | 'dst'>;
  readonly outside: OutsideCell | undefined;
  /** True where all of them differ alike; false where there was too much to distinguish. */
  readonly isAlike: boolean;
}

export interface OutsideCell {
  readonly side: 'src' | 'dst';
  readonly ranges: Ranges;
  readonly external: ExternalInput;
  /** The group that they are a part of. */
  readonly group: Omit<OutsideGroup<unknown>, 'delta'>;
}

/** Cells of one difference that are told apart; the rows behind them stay together. */
const MAX_CELLS = 5_000;

export interface StateComparison {
  readonly from: Moment;
  readonly to: Moment;
  readonly was: Reachability;
  readonly is: Reachability;
}

/** All that differs, and whether addresses outside of the network could be compared. */
export function cellsOf(
  compared: StateComparison,
  alterations: readonly RevertibleChange[],
  passesTime: boolean,
  engine: Engine,
) {
  const steps = isForwards(compared.from, compared.to) ? alterations.flatMap((one) => one.steps) : [];
  const isOne = alterations.length + Number(passesTime) <= 1 && steps.length === 0;
  const cells: Cell[] = [];
  const partsOf = partitioner(compared, alterations, steps, engine);
  const split = (names: readonly string[]) => (isOne || cells.length >= MAX_CELLS ? [names] : partsOf(names));
  for (const { src, dst, within: _, ...change } of diffGroups(compared.was, compared.is)) {
    const isAlike = isOne || cells.length < MAX_CELLS;
    for (const from of split(src)) {
      for (const to of split(dst)) {
        const example = exampleOf(from, to);
        if (example) cells.push({ ...change, src: from, dst: to, example, outside: undefined, isAlike });
      }
    }
  }
  const outside = outsideChanges(compared);
  const blocks = isOne ? [] : blocksOf(compared, steps, engine);
  const inside = networksOf(compared.was, compared.is);
  for (const { delta, ...group } of outside ?? []) {
    const stretches = isOne ? [group.ranges] : stretchesOf(blocks, inside, group.ranges);
    const isAlike = isOne || (stretches !== undefined && cells.length < MAX_CELLS);
    for (const ranges of isAlike ? (stretches ?? []) : [group.ranges]) {
      for (const peers of split(group.peers)) {
        const external = externalOf(ranges);
        const [peer = ''] = peers;
        const ends = (at: readonly string[]) =>
          group.side === 'src' ? { src: at, dst: peers } : { src: peers, dst: at };
        const example = group.side === 'src' ? { src: external.name, dst: peer } : { src: peer, dst: external.name };
        const own = { side: group.side, ranges, external, group };
        cells.push({ ...typed(delta), ...ends(group.names), example, outside: own, isAlike });
      }
    }
  }
  return { cells, isOutsideCompared: outside !== undefined, inside, blocks };
}

interface Delta {
  readonly old: AllowedPorts;
  readonly new: AllowedPorts;
}

function outsideChanges({ was, is }: StateComparison): readonly OutsideGroup<Delta>[] | undefined {
  return outsideGroups(was, is, (old, now): (Delta & { readonly text: string }) | undefined => {
    const text = JSON.stringify([old, now]);
    return JSON.stringify(old) === JSON.stringify(now) ? undefined : { old, new: now, text };
  });
}

function typed({ old, new: now }: Delta): Omit<DiffRow, 'src' | 'dst'> {
  const isNothing = (allowed: AllowedPorts) => allowed !== 'ALL' && allowed.length === 0;
  return { type: isNothing(old) ? 'added' : isNothing(now) ? 'removed' : 'changed', old, new: now };
}

/** Returns the blocks that could distinguish addresses in any mixture of the two states and of the steps between. */
function blocksOf({ from, to, was, is }: StateComparison, steps: Steps, engine: Engine): BlockCode[] {
  const policies = everyPolicy(from.state, to.state, steps);
  const bounds = [
    modelOf(onlyDelegated(from.state), to.at),
    modelOf(onlyDelegated(to.state), from.at),
    ...steps.map((records) => modelOf(onlyDelegated(withReverted(to.state, records)), to.at)),
  ];
  const others = [{ networks: [], peers: [], policies, now: to.at }, ...bounds.filter(({ peers }) => peers.length > 0)];
  return [was, is, ...others.map((model) => engine.compile(model))].flatMap(everyBlock);
}

/** Time may be taken back too. */
function everyPolicy(from: NetworkState, to: NetworkState, steps: Steps): PolicyInput[] {
  const versions = steps.flat().flatMap(({ before }) => (before?.kind === 'MeshPolicy' ? [before] : []));
  const inputs = versions.map(({ name, spec }): PolicyInput => ({ name, spec }));
  return [...new Set([...policyInputs(from), ...policyInputs(to), ...inputs])].map(lasting);
}

/** Whoever has bounds, and nothing else that knows addresses. */
function onlyDelegated(state: NetworkState): NetworkState {
  const peers = new Map([...state.peers].filter(([name]) => isDelegated(name, state)));
  return { ...state, peers, policies: new Map() };
}

function everyBlock({ parts }: Reachability): BlockCode[] {
  const rules = parts.policies.flatMap(({ code }) => [...(code.egress ?? []), ...(code.ingress ?? [])]);
  return [...rules, ...parts.bounds.rules].flatMap(({ blocks }) => blocks);
}

function exampleOf(from: readonly string[], to: readonly string[]): Cell['example'] | undefined {
  for (const src of from.slice(0, 2)) {
    const dst = to.find((name) => name !== src);
    if (dst !== undefined) return { src, dst };
  }
  return undefined;
}

/** Divides peers that differ alike by whether they still do where some changes are taken back and others are not. */
function partitioner(
  compared: StateComparison,
  alterations: readonly RevertibleChange[],
  steps: Steps,
  engine: Engine,
) {
  const kinds = new Map<string, string>();
  const parts = new WeakMap<readonly string[], readonly (readonly string[])[]>();
  let kindOf: ((name: string) => string) | undefined;
  return (names: readonly string[]): readonly (readonly string[])[] => {
    const known = parts.get(names);
    if (known) return known;
    kindOf ??= kindGrouper(compared, alterations, steps, engine);
    const tell = kindOf;
    const made = [...Map.groupBy(names, (name) => getOrInsertComputed(kinds, name, () => tell(name))).values()];
    parts.set(names, made);
    return made;
  };
}

/**
 * Returns a function that groups peers which no mixture of the two states and of the steps between distinguishes: by their
 * class among all policies of these, before, after and at each step; by whether they take part then; and by the changes that
 * wrote them. A peer with an agent above it is like no other.
 */
function kindGrouper(
  { from, to }: StateComparison,
  alterations: readonly RevertibleChange[],
  steps: Steps,
  engine: Engine,
) {
  const between = steps.map((records) => ({ state: { ...to.state, peers: peersOf(records) }, at: to.at }));
  const reach = engine.compile({
    networks: networkInputs(to.state),
    peers: [
      ...versionsOf(from, 'before'),
      ...versionsOf(to, 'after'),
      ...between.flatMap((moment, index) => versionsOf(moment, `${index}`)),
    ],
    policies: everyPolicy(from.state, to.state, steps),
    now: to.at,
  });
  const written = new Map<string, string[]>();
  for (const { id, records } of alterations) {
    for (const { kind, name } of records)
      if (kind === 'MeshPeer') getOrInsertComputed(written, name, () => []).push(id);
  }
  const part = (state: NetworkState, name: string, when: string): unknown[] => {
    const peer = state.peers.get(name);
    if (!peer) return [];
    const index = reach.parts.endpoints[reach.placeOf(`${when} ${name}`) ?? -1]?.classIndex;
    return [index, peer.status.phase, ...[from.at, to.at].map((at) => hasEnded(peer.spec, at))];
  };
  return (name: string): string => {
    if (isDelegated(name, from.state, to.state, ...between.map(({ state }) => state))) return name;
    const ends = [part(from.state, name, 'before'), part(to.state, name, 'after')];
    const within = written.has(name) ? between.map(({ state }, index) => part(state, name, `${index}`)) : [];
    return JSON.stringify([ends, written.get(name), within]);
  };
}

type Steps = readonly (readonly RecordDifference[])[];

/** As they were at a step: those that it can take back, and that were there. */
function peersOf(records: readonly RecordDifference[]): NetworkState['peers'] {
  return new Map(records.flatMap(({ name, before }) => (before?.kind === 'MeshPeer' ? [[name, before]] : [])));
}

function versionsOf({ state, at }: Moment, when: string) {
  const peers = [...state.peers.values()];
  return [...peerInputs(state, peers, peers, at).values()].map((input) => ({
    ...input,
    name: `${when} ${input.name}`,
  }));
}

function lasting({ name, spec }: PolicyInput): PolicyInput {
  if (typeof spec !== 'object' || spec === null) return { name, spec };
  const { expiresAt: _, ...rest } = spec as Record<string, unknown>;
  return { name, spec: rest };
}
