import type { Store } from '../../core/base/ports.ts';
import { portOf } from './clients.ts';
import type { Version } from './history.ts';

/** Every version of every policy of a workspace, as the store keeps them. */
export async function logOf(store: Pick<Store, 'versions' | 'revision'>, workspace: string): Promise<Version[]> {
  const upTo = await store.revision(workspace);
  const versions = await store.versions(workspace, 'MeshPolicy', { after: 0, upTo });
  return versions.map(({ name: key, revision, record }) => {
    const value = record && portOf(record.spec as Parameters<typeof portOf>[0]);
    return { key, revision, ...(value !== undefined && { value }) };
  });
}
