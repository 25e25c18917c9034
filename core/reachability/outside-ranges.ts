import { containsRange, type IpRange, parseCidr } from '../model/cidr.ts';
import { type PolicySpec, rulesOf } from '../model/policy.ts';
import { addressText, cidrsOf } from '../model/ranges.ts';
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
  const blocks = [...policies].flatMap(({ spec }) => blocksOf(spec));
  const named = blocks
    .map(({ block }) => block)
    .filter((block) => !inside.some((range) => containsRange(range, block)));
  const edges = [
    ...[...inside, ...blocks.flatMap(({ block, holes }) => [block, ...holes])].flatMap(({ family, from, to }) => [
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

function blocksOf(spec: PolicySpec): { readonly block: IpRange; readonly holes: readonly IpRange[] }[] {
  return (['ingress', 'egress'] as const)
    .flatMap((direction) => rulesOf(spec, direction) ?? [])
    .flatMap(({ peers }) => peers)
    .flatMap((entry) => {
      const block = entry === '*' ? undefined : parseCidr(entry.ipBlock?.cidr ?? '');
      if (entry === '*' || block === undefined) return [];
      return [{ block, holes: (entry.ipBlock?.except ?? []).flatMap((cidr) => parseCidr(cidr) ?? []) }];
    });
}

/** A CIDR where it is one, else `first-last`. */
function rangeText(range: IpRange): string {
  const [cidr = '', ...more] = cidrsOf([range]);
  const ends = `${addressText(range.family, range.from)}-${addressText(range.family, range.to)}`;
  return more.length === 0 ? cidr : ends;
}
