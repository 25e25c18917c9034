import type { Connections } from '../../authority/future.ts';
import type { OutsideEffect } from '../../effect/connection-changes.ts';
import type { EffectSide } from '../../effect/effect.ts';
import { counted } from '../../effect/markdown.ts';
import { type PortSpan, portsOf, spanText, subtract } from '../../effect/port-spans.ts';
import { cidrsOf, EVERY_ADDRESS, intersection, type Ranges, without } from '../../model/ranges.ts';
import type { NetworkState } from '../../state/state.ts';
import { type Ends, endsOf } from '../../state/terms.ts';
import type { Expectation } from './expectation.ts';
import { leftOf } from './expectations.ts';

const MAX_EXAMPLES = 3;

/** Connections that were named: what opens or closes of them was meant. */
export interface Named {
  readonly src: Who;
  readonly dst: Who;
  readonly ports: readonly PortSpan[];
}

interface Who {
  readonly peers: ReadonlySet<string>;
  readonly ranges: Ranges;
}

/**
 * Returns the connections that expectations name. Terms match the peers that they matched before the change: a peer that only
 * gains a label by the change was not named. Everyone (`*`) includes every address, unless an `allow` has exceptions.
 */
export function namedBy(expectations: readonly Expectation[], of: EffectSide, before: NetworkState): Named[] {
  const wanted = of === 'opened' ? 'allow' : 'deny';
  return expectations.flatMap(({ src, dst, except = [], expect, ...asked }) => {
    if (expect !== wanted) return [];
    const isWhole = except.length === 0 || expect === 'deny';
    const left = expect === 'deny' ? except.filter((term) => !isGranted(term, dst)) : except;
    const from = leftOf(withEveryone(src, isWhole, before), left, before);
    return [{ src: whoOf(from), dst: whoOf(withEveryone(dst, isWhole, before)), ports: portsOf(asked) }];
  });

  /** "Only web, on 5432": who is left out and given some ports keeps those alone. */
  function isGranted(term: string, dst: string): boolean {
    return expectations.some((one) => one.expect === 'allow' && one.src === term && one.dst === dst);
  }
}

/** Returns the connections of another effect as named ones. */
export function namedByEffect({ groups, outside = [] }: Connections, of: EffectSide): Named[] {
  const peers = (names: readonly string[]): Who => ({ peers: new Set(names), ranges: [] });
  return [
    ...groups.flatMap((one) =>
      one[of].length > 0 ? [{ src: peers(one.src), dst: peers(one.dst), ports: one[of] }] : [],
    ),
    ...outside.flatMap((one) => {
      if (one[of].length === 0) return [];
      const addresses: Who = { peers: new Set(), ranges: one.ranges };
      const [src, dst] = one.side === 'src' ? [addresses, peers(one.peers)] : [peers(one.peers), addresses];
      return [{ src, dst, ports: one[of] }];
    }),
  ];
}

/** Connections that a change opens or closes and nothing names, as a few sentences; none where all of it was named. */
export function beyondNamed(
  effect: Connections,
  of: EffectSide,
  named: readonly Named[],
  ending = ', which was not expected',
): string[] {
  const examples: string[] = [];
  let more = 0;
  const verb = of === 'opened' ? 'open' : 'close';
  for (const unnamed of unnamedIn(effect, of, named)) {
    const ends = exampleOf(unnamed);
    if (!ends) continue;
    if (examples.length < MAX_EXAMPLES) {
      examples.push(`it would ${verb} ${ends[0]} to ${ends[1]} on ${spanText(unnamed.ports)}${ending}`);
    } else more += 1;
  }
  return more > 0 ? [...examples, `and so for ${counted(more, 'more group')} of peers`] : examples;
}

/** Connections from every `src` to every `dst` that nothing names. */
export interface Unnamed {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly ports: readonly PortSpan[];
  /** On which side addresses are that are no peer's. */
  readonly addresses?: OutsideEffect['side'];
}

/** Yields the connections that a change opens, or closes, beyond the named ones. */
export function* unnamedIn(effect: Connections, of: EffectSide, named: readonly Named[]): Generator<Unnamed> {
  const partsOf = partition(named);
  for (const { src, dst, [of]: spans } of effect.groups) {
    if (spans.length === 0) continue;
    for (const { names: from, of: outgoing } of partsOf('src', src)) {
      for (const { names: to, of: incoming } of partsOf('dst', dst)) {
        const meant = outgoing.filter((one) => incoming.includes(one));
        const ports = meant.reduce<readonly PortSpan[]>((rest, one) => subtract(rest, one.ports), spans);
        if (ports.length > 0) yield { src: from, dst: to, ports };
      }
    }
  }
  for (const group of effect.outside ?? []) {
    if (group[of].length === 0) continue;
    for (const { names, of: meant } of partsOf(group.side === 'src' ? 'dst' : 'src', group.peers)) {
      const [piece] = piecesLeft(group, of, meant);
      if (!piece) continue;
      const addresses = piece.ranges === group.ranges ? group.names : cidrsOf(piece.ranges);
      const [src, dst] = group.side === 'src' ? [addresses, names] : [names, addresses];
      yield { src, dst, ports: piece.ports, addresses: group.side };
    }
  }
}

function exampleOf({ src, dst, addresses }: Unnamed): readonly [string, string] | undefined {
  switch (addresses) {
    case 'src':
      return [listed(src), firstOf(dst) ?? ''];
    case 'dst':
      return [firstOf(src) ?? '', listed(dst)];
    default:
      return firstPair(src, dst);
  }
}

/** The first of several names by the alphabet, and how many more there are. */
export function listed(names: readonly string[]): string {
  const [first = '', ...more] = names.toSorted();
  return more.length > 0 ? `${first} and ${more.length} more` : first;
}

interface Piece {
  readonly ranges: Ranges;
  readonly ports: readonly PortSpan[];
}

/** Returns the addresses and ports that remain after those of each matching named connection are subtracted. */
function piecesLeft(group: OutsideEffect, of: EffectSide, meant: readonly Named[]): Piece[] {
  const { side, ranges } = group;
  return meant.reduce<Piece[]>(
    (pieces, one) => {
      const taken = one[side].ranges;
      if (taken.length === 0) return pieces;
      return pieces.flatMap((piece) => {
        const both = { ranges: intersection(piece.ranges, taken), ports: subtract(piece.ports, one.ports) };
        if (both.ranges.length === 0) return [piece];
        const others = { ranges: without(piece.ranges, taken), ports: piece.ports };
        return [both, others].filter((left) => left.ranges.length > 0 && left.ports.length > 0);
      });
    },
    [{ ranges, ports: group[of] }],
  );
}

function withEveryone(term: string, isWhole: boolean, state: NetworkState): Ends {
  const ends = endsOf(term, state);
  return term === '*' && isWhole ? { ...ends, ranges: EVERY_ADDRESS } : ends;
}

function whoOf({ peers, ranges }: Ends): Who {
  return { peers: new Set(peers), ranges };
}

interface Part {
  readonly names: string[];
  readonly of: readonly Named[];
}

/** Names by who names them; worked out once for each set. */
function partition(named: readonly Named[]) {
  const known = { src: new Map<readonly string[], Part[]>(), dst: new Map<readonly string[], Part[]>() };
  return (side: 'src' | 'dst', names: readonly string[]): readonly Part[] => {
    const found = known[side].get(names);
    if (found) return found;
    const parts = new Map<string, Part>();
    for (const name of names) {
      const indexes = named.flatMap((one, index) => (one[side].peers.has(name) ? [index] : []));
      const key = indexes.join(' ');
      const part = parts.get(key) ?? { names: [], of: named.filter((_, index) => indexes.includes(index)) };
      parts.set(key, part);
      part.names.push(name);
    }
    const all = [...parts.values()];
    known[side].set(names, all);
    return all;
  };
}

/** A peer never connects to itself. */
function firstPair(from: readonly string[], to: readonly string[]): readonly [string, string] | undefined {
  const first = firstOf(from);
  for (const src of [first, firstOf(from, first)]) {
    const dst = firstOf(to, src);
    if (src !== undefined && dst !== undefined) return [src, dst];
  }
  return undefined;
}

/** By the alphabet, whatever order the engine has them in; none but one. */
function firstOf(names: readonly string[], other?: string): string | undefined {
  let first: string | undefined;
  for (const name of names) if (name !== other && (first === undefined || name < first)) first = name;
  return first;
}
