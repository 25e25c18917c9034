import { afterAll, beforeAll, describe } from 'vitest';
import type { Clock } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { hasMongod, type ReplicaSet, startReplicaSet } from '../../test/kits/servers/replica-set.ts';
import { storeContract } from '../contract.test-suite.ts';
import { openMongoStore } from './store.ts';

describe.skipIf(!hasMongod)('on a replica set of three', () => {
  let servers: ReplicaSet;
  let opened = 0;
  beforeAll(async () => {
    servers = await startReplicaSet();
  });
  afterAll(() => servers.stop());

  storeContract('the MongoDB store', async (clock: Clock) => {
    opened += 1;
    const name = `contract_${opened}`;
    const store = await openMongoStore({ url: servers.url(name), clock, log: silentLog, leaseClock: clock });
    return {
      ...store,
      async close() {
        await store.close();
        await servers.client.db(name).dropDatabase();
      },
    };
  });
});
