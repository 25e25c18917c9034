import { afterAll, test } from 'vitest';
import { isLong } from '../kits/lab/privileged.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { describeScenarios } from '../kits/servers/scenarios-elsewhere.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const SCENARIOS = { 'contract requests': 'contract-requests.test.ts' };
/** Of these on-three-planes.servers.test.ts has delegation and approval in each run, and scenario tests have all on a file. */
const LONG_SCENARIOS = {
  outage: 'outage.test.ts',
  delegation: 'delegation.test.ts',
  approval: 'intent.test.ts',
  time: 'snapshots.test.ts',
  compliance: 'compliance.test.ts',
};

if (!hasMongod) {
  test.skip('scenarios on a control plane whose records are in MongoDB');
} else {
  const servers = await shareReplicaSet();
  afterAll(() => servers.stop());
  const scenarios = { ...SCENARIOS, ...(isLong && LONG_SCENARIOS) };
  describeScenarios('with the records in MongoDB', scenarios, { servers });
}
