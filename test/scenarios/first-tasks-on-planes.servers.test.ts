import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { keepRecordsAt } from '../kits/http/harness.ts';
import { hasNatsServer, startOwnTokenCluster } from '../kits/servers/nats-cluster.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';
import { hasBrowser } from '../kits/web/dashboard.ts';
import { firstTasks } from '../kits/web/first-tasks.ts';

const PLANES = [3, 1];
const TOOLS = ['mouse', 'keyboard'] as const;

if (!hasMongod || !hasNatsServer || !hasBrowser) {
  test.skip('ten first tasks at the balancer of control planes on one replica set');
} else {
  const servers = await shareReplicaSet();
  const bus = await startOwnTokenCluster();
  afterAll(async () => {
    await bus[Symbol.asyncDispose]();
    await servers.stop();
  });
  describe.each(PLANES)('control planes on one replica set: %i', (planes) => {
    // What it returns runs at the end.
    beforeAll(() =>
      keepRecordsAt((folder) => servers.url(path.basename(folder)), planes, planes > 1 ? bus.env : undefined),
    );
    describe.each(TOOLS)('ten first tasks by %s', firstTasks);
  });
}
