import { invalidInput } from '../errors.ts';
import { workspaceById } from '../identity/workspaces.ts';
import type { CallContext } from '../operation.ts';
import type { Services } from '../services.ts';
import type { NetworkChange } from './changes.ts';
import { changesOf } from './manifest.ts';
import { readYaml } from './resource-input.ts';

/**
 * The changes of a request to apply: YAML text with any number of documents, or the objects themselves. A `List` is
 * taken apart, as kubectl writes one.
 *
 * @throws MeshError `invalid_input` that names the document and the field.
 */
export async function appliedChanges(
  { services, workspace }: CallContext<Pick<Services, 'store' | 'states' | 'yaml'>>,
  {
    manifest,
    documents,
  }: { readonly manifest?: string | undefined; readonly documents?: readonly unknown[] | undefined },
): Promise<NetworkChange[]> {
  if ((manifest === undefined) === (documents === undefined)) {
    throw invalidInput(
      [{ pointer: '/manifest', detail: 'Send YAML in manifest, or objects in documents: one of the two.' }],
      'Send YAML in manifest, or objects in documents: one of the two.',
    );
  }
  const all = documents ?? readYaml(services, manifest ?? '');
  const state = await services.states.current(workspace);
  return changesOf(all.flatMap(itemsOf), state, (await workspaceById(services, workspace)).spec.namespace);
}

function itemsOf(document: unknown): unknown[] {
  if (typeof document !== 'object' || document === null) return [document];
  const { kind, items } = document as { kind?: unknown; items?: unknown };
  return kind === 'List' && Array.isArray(items) ? items : [document];
}
