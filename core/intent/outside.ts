import { containsRange, type IpRange, parseCidr } from '../network/cidr.ts';
import { type PolicySpec, rulesOf } from '../network/policy.ts';
import type { NetworkState } from '../network/state.ts';
import { namesOf } from '../network/terms.ts';
import { sameValue } from '../network/value.ts';
import { fromLine } from '../reachability/classes.ts';
import { diffGroups } from '../reachability/diff.ts';
import { createEngine } from '../reachability/engine.ts';
import type { ExternalInput } from '../reachability/model.ts';
import type { Reachability } from '../reachability/reachability.ts';
import type { Expectation } from './planner.ts';
import { type PortSpan, portsOf, spansOf, spanText, subtract } from './port-spans.ts';

/** Addresses that a change is tried with. */
const MAX_TRIED = 1_000;
const MAX_EXAMPLES = 3;
/** Stands for every address that no policy names. Spaces are in no name of a peer. */
const ELSEWHERE = 'addresses outside of the network';

export interface OutsideQuestion {
  readonly before: NetworkState;
  readonly after: NetworkState;
  readonly was: Reachability;
  readonly is: Reachability;
  /** What the sentence itself comes to, where the grammar reads it. */
  readonly said: Reachability | undefined;
  readonly expectations: readonly Expectation[];
}

/**
 * What a change opens from or to addresses that are no peer, and neither the sentence nor an expectation of everyone (`*`)
 * asks for, as a few sentences. Each stretch of addresses that policies tell apart is tried with one of it.
 */
export function openedOutside(question: OutsideQuestion): string[] {
  const { before, after, was, is, said } = question;
  const externals = stretches(before, after, [was, is]);
  if (!externals) return ['it would open more ranges of addresses outside of the network than can be shown'];
  const engine = createEngine();
  const [old, now, asked] = [was, is, said].map((reach) => reach && engine.compile({ ...reach.model, externals }));
  if (!old || !now) return [];
  const outside = new Set(externals.map(({ name }) => name));
  const found: string[] = [];
  let more = 0;
  for (const { src, dst, old: closed, new: open } of diffGroups(old, now)) {
    const inward = outside.has(src[0] ?? '');
    if (!inward && !outside.has(dst[0] ?? '')) continue;
    const opened = subtract(spansOf(open), spansOf(closed));
    if (opened.length === 0) continue;
    const pair = firstUnasked(src, dst, opened, (from, to, spans) => {
      const left = asked ? subtract(spans, spansOf(asked.allowed(from, to))) : spans;
      return meantForEveryone(question, inward ? 'src' : 'dst', inward ? to : from, left);
    });
    if (!pair) continue;
    if (found.length < MAX_EXAMPLES)
      found.push(`it would open ${pair.from} to ${pair.to} on ${spanText(pair.left)}, which was not expected`);
    else more += 1;
  }
  return more > 0 ? [...found, `and so for ${more} more groups of addresses and peers`] : found;
}

function firstUnasked(
  src: readonly string[],
  dst: readonly string[],
  opened: readonly PortSpan[],
  leftOf: (from: string, to: string, spans: readonly PortSpan[]) => readonly PortSpan[],
) {
  for (const from of src) {
    for (const to of dst) {
      const left = leftOf(from, to, opened);
      if (left.length > 0) return { from, to, left };
    }
  }
  return undefined;
}

/** What is left of ports when an expectation lets everyone (`*`) reach a peer, or a peer reach everyone. */
function meantForEveryone(
  { before, expectations }: OutsideQuestion,
  side: 'src' | 'dst',
  peer: string,
  opened: readonly PortSpan[],
): readonly PortSpan[] {
  const other = side === 'src' ? 'dst' : 'src';
  return expectations
    .filter((one) => one.expect === 'allow' && one[side] === '*' && !one.except?.length)
    .filter((one) => one[other] === '*' || namesOf(one[other], before).includes(peer))
    .reduce<readonly PortSpan[]>((left, one) => subtract(left, portsOf(one)), opened);
}

/**
 * One address of each stretch that some policy names and that belongs to no network, those of changed policies first, and
 * one that no policy names. Undefined when changed policies alone name too many.
 */
function stretches(
  before: NetworkState,
  after: NetworkState,
  reaches: readonly Reachability[],
): ExternalInput[] | undefined {
  const inside = [before, after].flatMap(({ networks }) =>
    [...networks.values()].flatMap(({ spec }) => parseCidr(spec.cidr) ?? []),
  );
  const edges = [
    ...inside.map(({ family, to }) => ({ family, at: to + 1n })),
    ...reaches.flatMap(({ parts }) => parts.space.projection.edges.map(fromLine)),
  ];
  const starts = new Set<string>();
  const tryAll = (blocks: readonly IpRange[]) => {
    for (const block of blocks) {
      if (inside.some((range) => containsRange(range, block))) continue;
      const within = edges.filter(({ family, at }) => family === block.family && at > block.from && at <= block.to);
      for (const at of [block.from, ...within.map((edge) => edge.at)]) {
        if (starts.size > MAX_TRIED) return;
        const isInside = inside.some(({ family, from, to }) => family === block.family && from <= at && at <= to);
        if (!isInside) starts.add(textOf(block.family, at));
      }
    }
  };
  const isSame = (name: string) => sameValue(before.policies.get(name)?.spec, after.policies.get(name)?.spec);
  const policies = [...before.policies, ...after.policies];
  tryAll(policies.flatMap(([name, { spec }]) => (isSame(name) ? [] : blocksOf(spec))));
  if (starts.size > MAX_TRIED) return undefined;
  tryAll(policies.flatMap(([name, { spec }]) => (isSame(name) ? blocksOf(spec) : [])));
  const named = [...starts].map((address) => ({ name: `${address} (no peer)`, range: address }));
  return [...named, { name: ELSEWHERE, range: '' }];
}

function blocksOf(spec: PolicySpec): IpRange[] {
  return (['ingress', 'egress'] as const)
    .flatMap((direction) => rulesOf(spec, direction) ?? [])
    .flatMap(({ peers }) => peers)
    .flatMap((entry) => (entry === '*' ? [] : (parseCidr(entry.ipBlock?.cidr ?? '') ?? [])));
}

/** An address in the form that {@link parseCidr} reads. */
function textOf(family: IpRange['family'], address: bigint): string {
  const [width, parts] = family === 4 ? [8n, 4] : [16n, 8];
  const groups = Array.from(
    { length: parts },
    (_, index) => (address >> (width * BigInt(parts - 1 - index))) & ((1n << width) - 1n),
  );
  return family === 4 ? groups.join('.') : groups.map((group) => group.toString(16)).join(':');
}
