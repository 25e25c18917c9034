import { draftOf } from '../../../core/base/record.ts';
import { memberDraft } from '../../../core/identity/members.ts';
import type { PolicySpec } from '../../../core/model/policy.ts';
import { policy } from '../records/records.ts';
import { seedPeers } from '../records/seed-peers.ts';
import type { Kit } from './kit.ts';

const WHY = { actor: 'system:test', reason: 'seed', requestId: 'seed' };

/**
 * A workspace for orders, with the peers `web-1`, `db-1` and `lap`, the administrators `ada` and `bob`, and policies.
 *
 * @returns id of the workspace
 */
export async function orderedNetwork(
  kit: Kit,
  base: Readonly<Record<string, PolicySpec>>,
  lap: Readonly<Record<string, string>> = {},
): Promise<string> {
  const workspace = await kit.workspace();
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' }, lap });
  const records = [
    ...Object.entries(base).map(([name, spec]) => draftOf(policy(name, spec))),
    memberDraft('ada', 'admin'),
    memberDraft('bob', 'admin'),
  ];
  await kit.services.store.commit(
    workspace,
    records.map((record) => ({ op: 'create', record })),
    WHY,
  );
  return workspace;
}
