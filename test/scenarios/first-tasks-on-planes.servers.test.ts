import path from 'node:path';
import { afterAll, describe, test } from 'vitest';
import { keepRecordsAt } from '../kits/http/harness.ts';
import { hasMongod } from '../kits/servers/replica-set.ts';
import { shareReplicaSet } from '../kits/servers/shared-replica-set.ts';
import { hasBrowser } from '../kits/web/dashboard.ts';
import { firstTasks } from '../kits/web/first-tasks.ts';

if (!hasMongod || !hasBrowser) {
  test.skip('ten first tasks at the balancer of three control planes');
} else {
  const servers = await shareReplicaSet();
  afterAll(() => servers.stop());
  keepRecordsAt((directory) => servers.url(path.basename(directory)), 3);
  const tools = process.env['MESH_LONG'] === '1' ? (['mouse', 'keyboard'] as const) : (['mouse'] as const);
  describe.each(tools)('ten first tasks by %s, at the balancer of three control planes', firstTasks);
}
