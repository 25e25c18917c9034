import { containsRange, type IpRange, parseCidr } from '../network/cidr.ts';
import { type PolicySpec, rulesOf } from '../network/policy.ts';
import { fromLine } from './classes.ts';
import type { ExternalInput } from './model.ts';
import type { Reachability } from './reachability.ts';

/** Stretches of addresses that one answer tells apart. */
const MAX_STRETCHES = 200;
/** Stands for every address that no policy names. Spaces are in no name of a peer. */
export const ELSEWHERE = 'other addresses outside';

/**
 * The addresses outside of all networks of which policies speak, as externals that no policy tells apart within, and one
 * for all others; none where no policy names an address outside.
 */
export function outsideRanges(
  reach: Reachability,
  policies: Iterable<{ readonly spec: PolicySpec }>,
): readonly ExternalInput[] {
  const inside = reach.model.networks.flatMap(({ cidr }) => parseCidr(cidr) ?? []);
  const named = [...policies]
    .flatMap(({ spec }) => blocksOf(spec))
    .filter((block) => !inside.some((range) => containsRange(range, block)));
  const edges = [
    ...reach.parts.space.projection.edges.map(fromLine),
    ...inside.flatMap(({ family, from, to }) => [
      { family, at: from },
      { family, at: to + 1n },
    ]),
  ];
  const found = new Map<string, ExternalInput>();
  for (const { family, from, to } of named) {
    const cuts = edges.filter((edge) => edge.family === family && edge.at > from && edge.at <= to).map(({ at }) => at);
    const starts = [...new Set([from, ...cuts])].sort((a, b) => (a < b ? -1 : 1));
    for (const [index, start] of starts.entries()) {
      const stretch: IpRange = { family, from: start, to: (starts[index + 1] ?? to + 1n) - 1n };
      if (inside.some((range) => containsRange(range, stretch))) continue;
      if (found.size === MAX_STRETCHES) return [...found.values()];
      const name = rangeText(stretch);
      found.set(name, { name, range: [addressText(family, stretch.from), addressText(family, stretch.to)] });
    }
  }
  return found.size === 0 ? [] : [...found.values(), { name: ELSEWHERE, range: '' }];
}

function blocksOf(spec: PolicySpec): IpRange[] {
  return (['ingress', 'egress'] as const)
    .flatMap((direction) => rulesOf(spec, direction) ?? [])
    .flatMap(({ peers }) => peers)
    .flatMap((entry) => (entry === '*' ? [] : (parseCidr(entry.ipBlock?.cidr ?? '') ?? [])));
}

/** A CIDR where it is one, else `first-last`. */
function rangeText({ family, from, to }: IpRange): string {
  const first = addressText(family, from);
  const cidr = `${first}/${(family === 4 ? 32 : 128) - (to - from + 1n).toString(2).length + 1}`;
  const block = parseCidr(cidr);
  return block?.from === from && block.to === to ? cidr : `${first}-${addressText(family, to)}`;
}

function addressText(family: IpRange['family'], address: bigint): string {
  const [width, parts] = family === 4 ? [8n, 4] : [16n, 8];
  const groups = Array.from(
    { length: parts },
    (_, index) => (address >> (width * BigInt(parts - 1 - index))) & ((1n << width) - 1n),
  );
  return family === 4 ? groups.join('.') : groups.map((group) => group.toString(16)).join(':');
}
