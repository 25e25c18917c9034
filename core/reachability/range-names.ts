import { containsRange, type IpRange } from '../model/cidr.ts';
import {
  cidrsOf,
  EVERY_ADDRESS,
  EXCEPT,
  intersection,
  isSubset,
  OUTSIDE,
  type Ranges,
  union,
  without,
} from '../model/ranges.ts';
import type { BlockCode } from './program.ts';

/** CIDRs that a name leaves out; a longer list is cut and counted. */
const MAX_EXCEPT = 8;
/** Blocks of policies that are tried as names. */
const MAX_BLOCKS = 100;

/**
 * Addresses in the fewest readable terms: `outside` for all, `outside except 10.0.0.0/8` for all that no policy names and
 * more, else blocks of the policies and CIDRs, each a term of `rangesOfTerm` unless its list is cut. Addresses of networks are
 * nobody's here, so that a block around one stays whole.
 */
export function rangeNames(ranges: Ranges, inside: Ranges, blocks: readonly BlockCode[]): string[] {
  const missing = without(without(EVERY_ADDRESS, inside), ranges);
  if (missing.length === 0) return [OUTSIDE];
  const rest = without(EVERY_ADDRESS, union([...blocks.map(({ cidr }) => cidr), ...inside]));
  if (rest.length === 0 || !isSubset(rest, ranges)) return fewest(ranges, inside, blocks);
  const holes = fewest(missing, inside, blocks);
  // A nested exception could be read in two ways.
  if (holes.some((hole) => hole.includes(EXCEPT))) return fewest(ranges, inside, blocks);
  return [`${OUTSIDE}${exceptText(holes)}`];
}

function fewest(ranges: Ranges, inside: Ranges, blocks: readonly BlockCode[]): string[] {
  const texts: string[] = [];
  let left = ranges;
  const candidates = [...distinct(blocks).slice(0, MAX_BLOCKS), ...EVERY_ADDRESS];
  for (;;) {
    const best = candidates
      .map((block) => ({ block, ...fit(block, left, inside) }))
      .filter(({ saving }) => saving > 0)
      .sort((a, b) => b.saving - a.saving)[0];
    if (!best) break;
    texts.push(`${cidrsOf([best.block])[0]}${exceptText(best.holes)}`);
    left = without(left, [best.block]);
  }
  return [...texts, ...cidrsOf(left)];
}

/** How many terms a block with exceptions saves. */
function fit(block: IpRange, ranges: Ranges, inside: Ranges): { readonly saving: number; readonly holes: string[] } {
  const part = intersection(ranges, [block]);
  if (part.length === 0 || (part.length === 1 && part[0] && containsRange(part[0], block)))
    return { saving: 0, holes: [] };
  // A network inside of a hole belongs to it, and one beside a hole does not.
  const [apart, within] = [without([block], union([...part, ...inside])), without([block], part)].map(cidrsOf);
  const holes = [apart, within].toSorted((a = [], b = []) => a.length - b.length)[0] ?? [];
  return { saving: cidrsOf(part).length - 1 - holes.length, holes };
}

function distinct(blocks: readonly BlockCode[]): IpRange[] {
  const byText = new Map(
    blocks.flatMap(({ cidr, except }) => [cidr, ...except]).map((one) => [cidrsOf([one])[0], one]),
  );
  return [...byText.values()];
}

function exceptText(holes: readonly string[]): string {
  if (holes.length === 0) return '';
  const more = holes.length - MAX_EXCEPT;
  return `${EXCEPT}${holes.slice(0, MAX_EXCEPT).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
