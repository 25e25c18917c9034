import path from 'node:path';
import { afterAll, describe, test } from 'vitest';
import { keepRecordsAt } from '../kits/http/harness.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** Each registers its own tests, which begin with a control plane. */
const SCENARIOS = {
  'contract requests': () => import('./contract-requests.test.ts'),
  delegation: () => import('./delegation.test.ts'),
  approval: () => import('./intent.test.ts'),
  compliance: () => import('./compliance.test.ts'),
  history: () => import('./snapshots.test.ts'),
  outage: () => import('./outage.test.ts'),
} as const;

if (!hasMongod) {
  test.skip('scenarios on a control plane whose records are in MongoDB');
} else {
  const servers = await shareReplicaSet();
  afterAll(() => servers.stop());
  keepRecordsAt((directory) => servers.url(path.basename(directory)));
  for (const [name, read] of Object.entries(SCENARIOS)) {
    describe(`${name}, with the records in MongoDB`, async () => {
      await read();
    });
  }
}
