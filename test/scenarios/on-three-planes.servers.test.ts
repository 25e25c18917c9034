import path from 'node:path';
import { afterAll, describe, test } from 'vitest';
import { keepRecordsAt } from '../kits/http/harness.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

/** Each registers its own tests, which begin with control planes behind a balancer that gives each request to another. */
const SCENARIOS = {
  'contract requests': () => import('./contract-requests.test.ts'),
  delegation: () => import('./delegation.test.ts'),
  approval: () => import('./intent.test.ts'),
  time: () => import('./snapshots.test.ts'),
  compliance: () => import('./compliance.test.ts'),
} as const;

if (!hasMongod) {
  test.skip('scenarios on three control planes whose records are in MongoDB');
} else {
  const servers = await shareReplicaSet();
  afterAll(() => servers.stop());
  keepRecordsAt((directory) => servers.url(path.basename(directory)), 3);
  for (const [name, read] of Object.entries(SCENARIOS)) {
    describe(`${name}, on three control planes`, async () => {
      await read();
    });
  }
}
