import { draftOf } from '../core/record.ts';
import type { Services } from '../core/services.ts';
import { peer } from './records.ts';

/** Writes ready peers straight into the store: `{'web-1': {role: 'web'}}`. */
export async function seedPeers(
  { store }: Pick<Services, 'store'>,
  workspace: string,
  peers: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  const { items } = await store.list(workspace, 'MeshPeer');
  const ops = Object.entries(peers).map(([name, labels], index) => {
    const record = draftOf(peer(name, { labels, address: `10.96.0.${items.length + index + 1}` }));
    return { op: 'create' as const, record };
  });
  await store.commit(workspace, ops, { actor: 'system:test', reason: 'seed', requestId: 'seed' });
}
