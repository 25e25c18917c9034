import { classOfExternal, type EndpointClass } from './endpoint-class.ts';
import type { Endpoint } from './endpoints.ts';
import type { ExternalInput, NetworkModel } from './model.ts';
import type { BlockCode } from './program.ts';
import { Reachability } from './reachability.ts';
import { RowTable } from './rows.ts';

/** The same network with addresses beside its peers. Places of peers stay, and nothing of them is compiled again. */
export function withExternals(reach: Reachability, externals: readonly ExternalInput[]): Reachability {
  const { projection } = reach.parts.space;
  const added = externals.map((external) => {
    return { name: external.name, network: undefined, kind: classOfExternal(external, projection) };
  });
  return withEndpoints(reach, added, { ...reach.model, externals: [...(reach.model.externals ?? []), ...externals] });
}

interface AddedEndpoint {
  readonly name: string;
  /** Undefined for an address outside. */
  readonly network: string | undefined;
  readonly kind: EndpointClass;
}

/** The same with others beside its endpoints, which no policy lists and nothing bounds. */
export function withEndpoints(
  { parts }: Reachability,
  added: readonly AddedEndpoint[],
  model: NetworkModel,
): Reachability {
  const kinds = new Map(added.map(({ kind }) => [kind.signature, kind]));
  for (const { signature } of parts.space.classes) kinds.delete(signature);
  const space = parts.space.withMore([...kinds.values()]);
  const codes = parts.policies.map(({ code }) => code);
  const table = new RowTable(space, parts.ports, new Map(), codes, model.networks);
  // Places above may belong to names of later states.
  const endpoints: (Endpoint | undefined)[] = [...parts.endpoints];
  endpoints.length = Math.max(endpoints.length, parts.places.size);
  const places = new Map(parts.places);
  for (const { name, network, kind } of added) {
    const classIndex = space.indexOf(kind.signature) ?? 0;
    places.set(name, endpoints.length);
    const external = network === undefined;
    endpoints.push({ name, classIndex, external, network, dead: undefined, bound: undefined, unit: `${classIndex}` });
  }
  const live = parts.live + added.length;
  return new Reachability({ ...parts, model: () => model, space, table, endpoints, places, live });
}

/** The blocks of addresses by which policies decide about some places, and the bounds of those that are delegated. */
export function blocksAt(reach: Reachability, places: Iterable<number>): Set<BlockCode> {
  const { endpoints, policies, table, bounds } = reach.parts;
  const blocks = new Set<BlockCode>();
  const seen = new Set<number>();
  const add = (index: number) => {
    const code = policies[index]?.code;
    if (seen.has(index) || code === undefined) return;
    seen.add(index);
    for (const rule of [...(code.egress ?? []), ...(code.ingress ?? [])])
      for (const one of rule.blocks) blocks.add(one);
  };
  for (const place of places) {
    const endpoint = endpoints[place];
    if (endpoint === undefined) continue;
    for (const index of table.selecting(endpoint.classIndex)) add(index);
    if (endpoint.bound === undefined) continue;
    // Policies that select an ancestor decide what the ancestor may open.
    for (const index of policies.keys()) add(index);
    for (const rule of bounds.rules) for (const one of rule.blocks) blocks.add(one);
  }
  return blocks;
}
