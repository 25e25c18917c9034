import { draftOf } from '../../core/base/record.ts';
import { startHarness } from '../../test/kits/http/harness.ts';
import { peer, policy, presence } from '../../test/kits/records/records.ts';
import { ownPassword } from '../../test/kits/web/page-people.ts';

/** A control plane with so many peers and 100 policies, in a process of its own; tells where it answers: `<peers>`. */
const PEERS = Number(process.argv[2]);
const ROLES = 50;
const ZONES = 7;
const POLICIES = 100;
/** In one commit there is room for so many. */
const BATCH = 500;

const harness = await startHarness();
const { workspace } = await harness.workspace('prod');
const { store } = harness.plane.services;
const records = Array.from({ length: PEERS }, (_, n) => [
  peer(`node-${n}`, {
    address: `10.96.${n >> 8}.${n & 255}`,
    labels: { role: `r${n % ROLES}`, zone: `z${n % ZONES}` },
  }),
  presence(`node-${n}`, n % 2 === 0),
]);
const policies = Array.from({ length: POLICIES }, (_, n) => {
  const from = [{ peerSelector: { matchLabels: { role: `r${(n * 7 + 1) % ROLES}` } } }];
  const ingress = [{ from, ports: [{ port: 1_000 + n }] }];
  return policy(`policy-${n}`, { action: 'ALLOW', peerSelector: { matchLabels: { role: `r${n % ROLES}` } }, ingress });
});
for (let first = 0; first < PEERS; first += BATCH) await create(records.slice(first, first + BATCH).flat());
await create(policies);
await ownPassword(harness);
process.send?.(harness.url);
process.on('message', () => {
  void harness[Symbol.asyncDispose]().then(() => process.disconnect());
});

async function create(all: readonly Parameters<typeof draftOf>[0][]): Promise<void> {
  const ops = all.map((record) => ({ op: 'create' as const, record: draftOf(record) }));
  await store.commit(workspace, ops, { actor: 'system:bench', reason: 'bench', requestId: 'bench' });
}
