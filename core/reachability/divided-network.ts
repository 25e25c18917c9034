import { MeshError } from '../base/errors.ts';
import { containsRange, type IpRange, overlaps, parseRange, rangeBetween } from '../model/cidr.ts';
import { isSubset } from '../model/ranges.ts';
import { compile } from './engine.ts';
import { explain } from './explain.ts';
import { explainParts } from './explain-outside.ts';
import type { ConnectivityQuery, Explanation } from './explanation.ts';
import { blocksAt, withExternals } from './externals.ts';
import { type PairRow, pairRows } from './matrix.ts';
import type { ExternalInput, NetworkModel } from './model.ts';
import { namedExternal, networksOf, stretchesOf } from './outside.ts';
import { ALL_PORTS, NO_PORTS, type PortSetId } from './port-sets.ts';
import type { BlockCode } from './program.ts';
import type { Reachability } from './reachability.ts';

/** Parts into which policies divide the externals of one network, in all. */
const MAX_PARTS = 20_000;

/** A row of an external whose addresses are not treated alike: `allowed` is what each of them may use. */
export interface DividedRow extends PairRow {
  readonly partial?: true;
}

/** A network whose externals are whole ranges of addresses, which policies may divide. */
export interface DividedNetwork {
  readonly reach: Reachability;
  explain(query: ConnectivityQuery): Explanation;
  /** As {@link pairRows}; a divided external has a row where any of its addresses may use anything. */
  rows(sources?: ReadonlySet<string>): Generator<DividedRow>;
}

/**
 * Compiles a network and judges each of its externals in the parts that policies tell apart: a rule that covers half of a
 * range decides about that half.
 *
 * @throws MeshError `payload_too_large` where policies divide the externals into too many parts
 */
export function compileDivided(model: NetworkModel): DividedNetwork {
  const reach = compile(model);
  const parts = partsOf(reach);
  const all = parts.size === 0 ? reach : withExternals(reach, [...parts.values()].flat());
  return {
    reach,
    explain(query) {
      const [from, to] = [parts.get(query.src), parts.get(query.dst)];
      if ((from && to) || !(from ?? to)) return explain(reach, query);
      return explainParts(all, { ...query, side: from ? 'src' : 'dst' }, from ?? to ?? []);
    },
    *rows(sources) {
      for (const row of pairRows(reach, sources)) if (!parts.has(row.src) && !parts.has(row.dst)) yield row;
      for (const [external, own] of parts) yield* rowsOfParts(all, { external, parts: own, sources });
    },
  };
}

/** The parts of each external that policies divide, by its name. Addresses of networks are peers' and left out. */
function partsOf(reach: Reachability): ReadonlyMap<string, readonly ExternalInput[]> {
  const parts = new Map<string, readonly ExternalInput[]>();
  const externals = reach.model.externals ?? [];
  const blocks = externals.length === 0 ? [] : [...blocksAt(reach, reach.parts.endpoints.keys())];
  const networks = networksOf(reach);
  let count = 0;
  for (const { name, range } of externals) {
    const whole = typeof range === 'string' ? parseRange(range) : rangeBetween(...range);
    const dividing = whole ? blocks.filter((block) => divides(block, whole)) : [];
    if (!whole || dividing.length === 0) continue;
    const own = stretchesOf(dividing, isSubset([whole], networks) ? [] : networks, [whole]);
    count += own?.length ?? Number.POSITIVE_INFINITY;
    if (!own || count > MAX_PARTS) throw tooManyParts(name);
    const named = own.map(namedExternal);
    parts.set(
      name,
      named.map((part) => ({ ...part, name: `${part.name} of ${name}` })),
    );
  }
  return parts;
}

/** Tells whether a block, or what it leaves out, covers a part of a range. */
function divides({ cidr, except }: BlockCode, whole: IpRange): boolean {
  return [cidr, ...except].some((range) => overlaps(range, whole) && !containsRange(range, whole));
}

function tooManyParts(name: string): MeshError {
  return new MeshError(
    'payload_too_large',
    `Policies divide the externals into more than ${MAX_PARTS} parts, the last of them ${name}. Ask about fewer or smaller ranges.`,
  );
}

interface RowQuery {
  readonly external: string;
  readonly parts: readonly ExternalInput[];
  readonly sources: ReadonlySet<string> | undefined;
}

function* rowsOfParts(reach: Reachability, { external, parts, sources }: RowQuery): Generator<DividedRow> {
  const isAsked = (name: string) => !sources || sources.has(name);
  const places = parts.flatMap(({ name }) => reach.placeOf(name) ?? []);
  for (const { name } of reach.model.peers) {
    const peer = reach.placeOf(name);
    if (peer === undefined) continue;
    if (isAsked(external)) {
      const row = rowOf(
        reach,
        places.map((part) => reach.pair(part, peer)),
      );
      if (row) yield { src: external, dst: name, ...row };
    }
    if (isAsked(name)) {
      const row = rowOf(
        reach,
        places.map((part) => reach.pair(peer, part)),
      );
      if (row) yield { src: name, dst: external, ...row };
    }
  }
}

/** Returns the ports that every part may use; undefined where no part may use any. */
function rowOf(
  { parts: { ports } }: Reachability,
  open: readonly PortSetId[],
): Pick<DividedRow, 'allowed' | 'partial'> | undefined {
  if (open.every((set) => set === NO_PORTS)) return undefined;
  const allowed = ports.describe(open.reduce((left, set) => ports.meet(left, set), ALL_PORTS));
  return { allowed, ...(new Set(open).size > 1 && { partial: true }) };
}
