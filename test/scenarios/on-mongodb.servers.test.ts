import { afterAll, test } from 'vitest';
import { isLong } from '../kits/lab/privileged.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { describeScenarios } from '../kits/servers/scenarios-elsewhere.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const SCENARIOS = {
  'contract requests': () => import('./contract-requests.test.ts'),
  outage: () => import('./outage.test.ts'),
};
/** Which on-three-planes.servers.test.ts has in each run. */
const LONG_SCENARIOS = {
  delegation: () => import('./delegation.test.ts'),
  approval: () => import('./intent.test.ts'),
  time: () => import('./snapshots.test.ts'),
  compliance: () => import('./compliance.test.ts'),
};

if (!hasMongod) {
  test.skip('scenarios on a control plane whose records are in MongoDB');
} else {
  const servers = await shareReplicaSet();
  afterAll(() => servers.stop());
  const scenarios = { ...SCENARIOS, ...(isLong && LONG_SCENARIOS) };
  describeScenarios('with the records in MongoDB', scenarios, { servers });
}
