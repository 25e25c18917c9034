import { invalidInput } from '../base/errors.ts';
import type { CallContext } from '../base/operation.ts';
import type { NetworkChange } from '../changes/changes.ts';
import { changesOf, requireDocumentCount } from '../changes/manifest.ts';
import { readYaml } from '../changes/resource-input.ts';
import { workspaceById } from '../model/workspaces.ts';
import type { NetworkServices } from '../state/services.ts';
import { type AgentManifest, parseAgentManifest } from './agent-manifest.ts';

/** What is asked for, each with the place of its document in the request. */
export interface AppliedDocuments {
  readonly changes: readonly NetworkChange[];
  readonly changePlaces: readonly number[];
  readonly agents: readonly AgentManifest[];
  readonly agentPlaces: readonly number[];
}

/**
 * The changes and the agents of a request to apply: YAML text with any number of documents, or the objects themselves. A
 * `List` is taken apart, as kubectl writes one.
 *
 * @throws MeshError `invalid_input` that names the document and the field.
 */
export async function appliedDocuments(
  { services, workspace }: CallContext<Pick<NetworkServices, 'store' | 'states' | 'yaml'>>,
  {
    manifest,
    documents,
  }: { readonly manifest?: string | undefined; readonly documents?: readonly unknown[] | undefined },
): Promise<AppliedDocuments> {
  if ((manifest === undefined) === (documents === undefined)) {
    throw invalidInput(
      [{ pointer: '/manifest', detail: 'Send YAML in manifest, or objects in documents: one of the two.' }],
      'Send YAML in manifest, or objects in documents: one of the two.',
    );
  }
  const all = (documents ?? readYaml(services, manifest ?? '')).flatMap(itemsOf);
  requireDocumentCount(all);
  const state = await services.states.current(workspace);
  const { namespace } = (await workspaceById(services, workspace)).spec;
  const [agents, others] = [placesWhere(all, isAgent), placesWhere(all, (document) => !isAgent(document))];
  const pointer = (place: number | undefined) => `/documents/${place}`;
  const at = (places: readonly number[]) => places.map((place) => all[place]);
  return {
    changes: others.length === 0 ? [] : changesOf(at(others), state, namespace, (index) => pointer(others[index])),
    changePlaces: others,
    agents: at(agents).map((document, index) => parseAgentManifest(document, namespace, pointer(agents[index]))),
    agentPlaces: agents,
  };
}

function itemsOf(document: unknown): unknown[] {
  if (typeof document !== 'object' || document === null) return [document];
  const { kind, items } = document as { kind?: unknown; items?: unknown };
  return kind === 'List' && Array.isArray(items) ? items : [document];
}

function isAgent(document: unknown): boolean {
  return typeof document === 'object' && document !== null && 'kind' in document && document.kind === 'AgentIdentity';
}

function placesWhere(all: readonly unknown[], is: (document: unknown) => boolean): number[] {
  return all.flatMap((document, index) => (is(document) ? [index] : []));
}
