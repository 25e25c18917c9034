import { statesOf } from '../history/pair/identity.ts';
import type { ResourceOverRange } from '../history/pair/question-reader.ts';
import type { Range } from '../history/pair/range.ts';
import type { ComputeServices } from '../intent/plan/services.ts';
import { FIELD_OF_KIND } from '../state/state.ts';

const KINDS = ['MeshPolicy', 'MeshNetwork', 'AgentIdentity'] as const;

/** Every policy, network and agent that was there at any time of a range, by the newest that had its name. */
export async function resourcesOverRange(
  services: ComputeServices,
  workspace: string,
  range: Range,
): Promise<ResourceOverRange[]> {
  const [end, begin] = await statesOf(services, workspace, range);
  const span = { after: range.first, upTo: range.last };
  const found = new Map<string, ResourceOverRange>();
  for (const kind of KINDS) {
    const versions = await services.store.versions(workspace, kind, span);
    const records = [
      ...begin[FIELD_OF_KIND[kind]].values(),
      ...versions.flatMap(({ record }) => record ?? []),
      ...end[FIELD_OF_KIND[kind]].values(),
    ];
    for (const { name, uid } of records) found.set(`${kind}/${name}`, { kind, name, uid });
  }
  return [...found.values()];
}
