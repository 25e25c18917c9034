import { classOfExternal } from './endpoint-class.ts';
import type { Endpoint } from './endpoints.ts';
import type { ExternalInput } from './model.ts';
import type { BlockCode } from './program.ts';
import { Reachability } from './reachability.ts';
import { RowTable } from './rows.ts';

/** The same network with addresses beside its peers. Places of peers stay, and nothing of them is compiled again. */
export function withExternals(reach: Reachability, externals: readonly ExternalInput[]): Reachability {
  const { parts } = reach;
  const classes = externals.map((external) => classOfExternal(external, parts.space.projection));
  const added = new Map(classes.map((one) => [one.signature, one]));
  for (const { signature } of parts.space.classes) added.delete(signature);
  const space = parts.space.withMore([...added.values()]);
  const codes = parts.policies.map(({ code }) => code);
  const model = { ...reach.model, externals: [...(reach.model.externals ?? []), ...externals] };
  const table = new RowTable(space, parts.ports, new Map(), codes, model.networks);
  // Places above may belong to names of later states.
  const endpoints: (Endpoint | undefined)[] = [...parts.endpoints];
  endpoints.length = Math.max(endpoints.length, parts.places.size);
  const places = new Map(parts.places);
  for (const [index, { name }] of externals.entries()) {
    const classIndex = space.indexOf(classes[index]?.signature ?? '') ?? 0;
    places.set(name, endpoints.length);
    const unit = `${classIndex}`;
    endpoints.push({ name, classIndex, external: true, network: undefined, dead: undefined, bound: undefined, unit });
  }
  const live = parts.live + externals.length;
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
    // What an ancestor may open is decided by policies that select the ancestor.
    for (const index of policies.keys()) add(index);
    for (const rule of bounds.rules) for (const one of rule.blocks) blocks.add(one);
  }
  return blocks;
}
