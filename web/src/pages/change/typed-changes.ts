import { load } from 'js-yaml';
import type { Plan, TypedChange } from '../../api/types.ts';

interface Resource {
  readonly metadata?: { readonly labels?: Record<string, string> };
  readonly spec?: Record<string, unknown>;
}

/** The changes of a plan in the form in which they are sent. Of a peer, its labels and network are changed alone. */
export function typedChanges(changes: Plan['changes']): TypedChange[] {
  return changes.map(({ action, resource, name, after }) => {
    const base = { action, resource: resource as TypedChange['resource'], name };
    if (action === 'delete') return base;
    const { metadata = {}, spec = {} } = (load(after) ?? {}) as Resource;
    const peer = { labels: metadata.labels ?? {}, network: spec['network'] };
    return { ...base, spec: (resource === 'MeshPeer' ? peer : spec) as NonNullable<TypedChange['spec']> };
  });
}

/** A list of changes, which the control plane judges; or why it is none. */
export function changesOf(text: string): readonly TypedChange[] | string {
  let read: unknown;
  try {
    read = load(text);
  } catch (error) {
    return `This is not YAML: ${error instanceof Error ? error.message : String(error)}`;
  }
  return Array.isArray(read) && read.length > 0
    ? (read as TypedChange[])
    : 'Write a list of changes, each with action, resource, name and spec.';
}
