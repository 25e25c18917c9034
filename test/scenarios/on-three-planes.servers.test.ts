import { afterAll, expect, test } from 'vitest';
import { apiOf, startHarness } from '../kits/http/harness.ts';
import { isLong } from '../kits/lab/privileged.ts';
import { hasNatsServer, startOwnTokenCluster } from '../kits/servers/nats-cluster.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { describeScenarios } from '../kits/servers/scenarios-elsewhere.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';

const SCENARIOS = {
  'contract requests': 'contract-requests.test.ts',
  delegation: 'delegation.test.ts',
  approval: 'intent.test.ts',
  'signing in by OAuth': 'oauth.test.ts',
  'signing in by an issuer': 'sign-in.test.ts',
  'clients without a browser': 'oauth-devices.test.ts',
  'command lines that a browser signs in': 'browser-login.test.ts',
};
/** What one control plane alone does at a time, whichever has the request or leads. */
const LONG_SCENARIOS = { time: 'snapshots.test.ts', compliance: 'compliance.test.ts' };

if (!hasMongod || !hasNatsServer) {
  test.skip('scenarios on three control planes whose records are in MongoDB, with servers of NATS');
} else {
  const servers = await shareReplicaSet();
  const bus = await startOwnTokenCluster();
  afterAll(async () => {
    await bus[Symbol.asyncDispose]();
    await servers.stop();
  });
  const scenarios = { ...SCENARIOS, ...(isLong && LONG_SCENARIOS) };
  describeScenarios('on three control planes', scenarios, { servers, planes: 3, env: bus.env });

  test('each of the three control planes has the bus', async () => {
    await using harness = await startHarness();
    const isUp = async ({ url }: { readonly url: string }) =>
      /^mesh_bus_up \d/m.exec((await apiOf(url)('GET', '/metrics')).text)?.[0];
    await expect
      .poll(() => Promise.all(harness.planes.map(isUp)))
      .toEqual(['mesh_bus_up 1', 'mesh_bus_up 1', 'mesh_bus_up 1']);
  });
}
