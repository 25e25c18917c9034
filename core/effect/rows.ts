import type { NetworkState } from '../state/state.ts';
import { namesOf } from '../state/terms.ts';
import type { EffectGroup, OutsideEffect } from './connection-changes.ts';
import type { Effect } from './effect.ts';
import { type PortSpan, shortSpanText, spanText } from './port-spans.ts';

/** Connections that open or close alike, in words: names and labels in them are data and not escaped. */
export interface EffectText {
  readonly from: string;
  readonly to: string;
  readonly ports: string;
  /** The same with what is left of almost everything. */
  readonly shortPorts: string;
  /** Ordered pairs of peers, or of a peer and a term of addresses. */
  readonly pairs: number;
  /** An example pair. */
  readonly example: readonly [src: string, dst: string];
  /** Everyone of both sides, unsorted. */
  readonly src: readonly string[];
  readonly dst: readonly string[];
}

export interface EffectTexts {
  /** The largest first, addresses outside of the network last; `let in first`: those that come in before all. */
  readonly rows: readonly EffectText[];
  readonly omittedRows: number;
  readonly omittedPairs: number;
}

interface EffectTextsOptions {
  readonly limit: number;
  /** Rows left out at the beginning. */
  readonly skip?: number;
  readonly order?: 'outside last' | 'let in first';
  /** Terms by which peers are described before all other labels (`named-terms.ts`). */
  readonly named?: readonly string[];
}

/** Returns one side of an effect by kinds of peers. */
export function effectTexts(
  effect: Pick<Effect, 'groups' | 'outside'>,
  side: 'opened' | 'closed',
  state: NetworkState,
  { limit, skip = 0, order = 'outside last', named = [] }: EffectTextsOptions,
): EffectTexts {
  const describe = describer(state, named);
  const blocks = blocksOf(effect, side);
  const comesIn = ({ addresses }: Block) => Number(addresses === 'src');
  const sorted = order === 'outside last' ? blocks : blocks.toSorted((a, b) => comesIn(b) - comesIn(a));
  const rows = sorted.slice(skip, skip + limit).map(({ src, dst, ports, spans, pairs, addresses }): EffectText => {
    const from = addresses === 'src' ? listed(src) : describe(src, dst);
    const to = addresses === 'dst' ? listed(dst) : describe(dst, src);
    return { from, to, ports, shortPorts: shortSpanText(spans), pairs, example: exampleOf(src, dst), src, dst };
  });
  const left = sorted.slice(skip + limit);
  return { rows, omittedRows: left.length, omittedPairs: left.reduce((sum, { pairs }) => sum + pairs, 0) };
}

/** Connections that open or close alike, with the names of everyone: each `src` to each `dst` other than itself. */
export interface EffectBlock {
  readonly change: 'opened' | 'closed';
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly ports: string;
}

/** Names of both sides in all blocks of one answer. */
const MAX_BLOCK_NAMES = 50_000;

/** An effect whole, what opens first; what is left out of one that names too many is counted. */
export function effectBlocks(effect: Pick<Effect, 'groups' | 'outside'>): {
  readonly blocks: EffectBlock[];
  readonly omitted: number;
} {
  const all = (['opened', 'closed'] as const).flatMap((change) =>
    blocksOf(effect, change).map(({ src, dst, ports }) => ({
      change,
      src: src.toSorted(),
      dst: dst.toSorted(),
      ports,
    })),
  );
  let names = 0;
  const blocks = all.filter(({ src, dst }) => {
    names += src.length + dst.length;
    return names <= MAX_BLOCK_NAMES;
  });
  return { blocks, omitted: all.length - blocks.length };
}

/** The largest first, addresses outside of the network last. */
function blocksOf({ groups, outside = [] }: Pick<Effect, 'groups' | 'outside'>, side: 'opened' | 'closed'): Block[] {
  const merged = merge(
    groups.filter((group) => group[side].length > 0),
    side,
  );
  const byPairs = merged.toSorted((a, b) => b.pairs - a.pairs || (keyOf(a) < keyOf(b) ? -1 : 1));
  return [...byPairs, ...outsideBlocks(outside, side)];
}

interface Block {
  readonly src: readonly string[];
  readonly dst: readonly string[];
  readonly ports: string;
  readonly spans: readonly PortSpan[];
  readonly pairs: number;
  /** The side that is addresses outside of the network and no peers. */
  readonly addresses?: 'src' | 'dst';
}

function outsideBlocks(outside: readonly OutsideEffect[], of: 'opened' | 'closed'): Block[] {
  return outside
    .filter((group) => group[of].length > 0)
    .map(({ side, names, peers, [of]: spans }): Block => {
      const [src, dst] = side === 'src' ? [names, peers] : [peers, names];
      return { src, dst, ports: spanText(spans), spans, pairs: names.length * peers.length, addresses: side };
    })
    .toSorted((a, b) => b.pairs - a.pairs || (keyOf(a) < keyOf(b) ? -1 : 1));
}

/** Groups of one source become one, then those with the same targets: few rows say what many groups do. */
function merge(groups: readonly EffectGroup[], side: 'opened' | 'closed'): Block[] {
  const bySource = new Map<string, Omit<Block, 'dst' | 'pairs'> & { dst: (readonly string[])[]; pairs: number }>();
  const portsOf = once(spanText);
  const keysOf = once(setKey);
  for (const { src, dst, pairs, [side]: spans } of groups) {
    const ports = portsOf(spans);
    const key = `${keysOf(src)} ${ports}`;
    const known = bySource.get(key);
    if (known) {
      known.dst.push(dst);
      known.pairs += pairs;
    } else bySource.set(key, { src, dst: [dst], ports, spans, pairs });
  }
  const byTarget = new Map<string, Omit<Block, 'src' | 'pairs'> & { src: (readonly string[])[]; pairs: number }>();
  for (const { src, dst, ports, spans, pairs } of bySource.values()) {
    const key = `${dst.map(keysOf).sort().join()} ${ports}`;
    const known = byTarget.get(key);
    if (known) {
      known.src.push(src);
      known.pairs += pairs;
    } else byTarget.set(key, { src: [src], dst: dst.flat(), ports, spans, pairs });
  }
  return [...byTarget.values()].map((block) => ({ ...block, src: block.src.flat() }));
}

/** Groups share what they are made of, so a text of it is made once. */
function once<K extends object>(textOf: (key: K) => string): (key: K) => string {
  const known = new Map<K, string>();
  return (key) => {
    const text = known.get(key) ?? textOf(key);
    known.set(key, text);
    return text;
  };
}

/** Groups of an effect are made of kinds of peers, which share no member. */
function setKey(names: readonly string[]): string {
  return `${names[0]}+${names.length}`;
}

function keyOf({ src, dst, ports }: Block): string {
  return `${setKey(src)} ${setKey(dst)} ${ports}`;
}

const MAX_NAMES = 6;
/** A set that lacks at most this many of a kind is that kind, except those. */
const MAX_EXCEPT = 3;

/** Returns a function that describes the peers of one side beside the other one. */
function describer(state: NetworkState, named: readonly string[]) {
  const terms = named.map((term) => [term, namesOf(term, state)] as const).filter(([, names]) => names.length > 0);
  return (names: readonly string[], other: readonly string[]) => describe(names, other, state, terms);
}

/** Describes a set of peers: everyone, the peers of a term or label, all but a few, or the first of their names. */
function describe(
  names: readonly string[],
  other: readonly string[],
  state: NetworkState,
  terms: readonly (readonly [term: string, names: readonly string[]])[],
): string {
  const [first = ''] = names;
  if (names.length < 2) return first;
  const members = new Set(names);
  const all = namesOf('*', state);
  const missing = all.filter((name) => !members.has(name));
  if (all.length - missing.length === names.length) {
    if (missing.length === 0) return `every peer (${all.length})`;
    const others = new Set(other);
    const isRest = missing.every((name) => others.has(name)) && missing.length === others.size;
    // Where both sides are all peers together, names the smaller one and calls the larger one the others.
    if (isRest && (names.length > missing.length || (names.length === missing.length && first > (other[0] ?? ''))))
      return `every other peer (${names.length})`;
  }
  const labels = Object.entries(state.peers.get(first)?.labels ?? {}).sort();
  const ofLabels = labels.map(([key, value]) => [`${key}=${value}`, namesOf(`${key}=${value}`, state)] as const);
  for (const [term, kind] of [...terms, ...ofLabels]) {
    const lacking = kind.filter((name) => !members.has(name));
    if (kind.length - lacking.length !== names.length || lacking.length > MAX_EXCEPT) continue;
    if (lacking.length === 0) return `${term} (${names.length} peers)`;
    if (lacking.length < names.length) return `${term} (${names.length} peers) except ${lacking.join(', ')}`;
  }
  if (all.length - missing.length === names.length && missing.length <= MAX_EXCEPT && missing.length < names.length) {
    return `every peer (${names.length}) except ${missing.join(', ')}`;
  }
  return listed(names.toSorted());
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

function exampleOf(src: readonly string[], dst: readonly string[]): readonly [string, string] {
  const [to = ''] = dst;
  const from = src.find((name) => name !== to);
  if (from !== undefined) return [from, to];
  return [src[0] ?? '', dst[1] ?? to];
}
