import { draftOf } from '../../../core/base/record.ts';
import type { PeerRecord } from '../../../core/model/resources.ts';
import type { Services } from '../../../core/workflow/services.ts';
import { peer } from './records.ts';

/** Writes ready peers straight into the store: `{'web-1': {role: 'web'}}`. */
export async function seedPeers(
  { store }: Pick<Services, 'store'>,
  workspace: string,
  peers: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  const { items } = await store.list(workspace, 'MeshPeer');
  const records = Object.entries(peers).map(([name, labels], index) =>
    peer(name, { labels, address: addressOf(items.length + index + 1) }),
  );
  await seed(store, workspace, records);
}

/** So many that a graph of all is larger than a message of the bus (1 MiB). */
export const CROWD = 4_500;

/** {@link CROWD} ready peers at once, `crowd-0` and on, in a part of the block where nobody is yet. */
export async function seedCrowd({ store }: Pick<Services, 'store'>, workspace: string): Promise<void> {
  const crowd = Array.from({ length: CROWD }, (_, n) =>
    peer(`crowd-${n}`, { address: `10.96.${16 + (n >> 8)}.${n & 255}`, uid: `p_crowd${String(n).padStart(21, '0')}` }),
  );
  await seed(store, workspace, crowd);
}

async function seed(store: Services['store'], workspace: string, records: readonly PeerRecord[]): Promise<void> {
  const ops = records.map((record) => ({ op: 'create' as const, record: draftOf(record) }));
  await store.commit(workspace, ops, { actor: 'system:test', reason: 'seed', requestId: 'seed' });
}

function addressOf(place: number): string {
  return `10.96.${place >> 8}.${place & 255}`;
}
