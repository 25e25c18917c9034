import { afterAll, test } from 'vitest';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { describeScenarios } from '../kits/servers/scenarios-elsewhere.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const SCENARIOS = {
  'contract requests': () => import('./contract-requests.test.ts'),
  delegation: () => import('./delegation.test.ts'),
  approval: () => import('./intent.test.ts'),
  time: () => import('./snapshots.test.ts'),
  outage: () => import('./outage.test.ts'),
  compliance: () => import('./compliance.test.ts'),
} as const;

if (!hasMongod) {
  test.skip('scenarios on a control plane whose records are in MongoDB');
} else {
  const servers = await shareReplicaSet();
  afterAll(() => servers.stop());
  describeScenarios('with the records in MongoDB', SCENARIOS, { servers });
}
