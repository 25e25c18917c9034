import type { PlanRequest, ProposedChange } from '../api/types.ts';

/** Returns computed changes in the form in which they are planned: documents, networks and labels of peers, deletions. */
export function editsOf(changes: readonly ProposedChange[]): Pick<PlanRequest, 'documents' | 'set' | 'delete'> {
  const written = changes.filter(({ action }) => action !== 'delete');
  const documents = written.filter(({ resource }) => resource !== 'MeshPeer').map(documentOf);
  const set = written.filter(({ resource }) => resource === 'MeshPeer').map(setOf);
  const deleted = changes.filter(({ action }) => action === 'delete').map(nameOf);
  return {
    ...(documents.length > 0 && { documents: documents.join('\n---\n') }),
    ...(set.length > 0 && { set }),
    ...(deleted.length > 0 && { delete: deleted }),
  };
}

/** JSON is YAML, too. */
function documentOf({ resource: kind, name, labels, annotations, spec }: ProposedChange): string {
  const metadata = { name, ...(labels && { labels }), ...(annotations && { annotations }) };
  return JSON.stringify({ apiVersion: 'mesh.internal/v1alpha1', kind, metadata, spec });
}

function setOf({ name: peer, labels, network }: ProposedChange) {
  const words = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`);
  return { peer, ...(words.length > 0 && { labels: words }), ...(network !== undefined && { network }) };
}

function nameOf({ resource, name }: ProposedChange): string {
  return `${resource === 'MeshPolicy' ? 'policy' : 'network'}/${name}`;
}
