import { afterAll, beforeAll, describe } from 'vitest';
import type { Clock } from '../../core/base/ports.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import { type Databases, hasMongod } from '../../test/kits/servers/replica-set.ts';
import { shareReplicaSet } from '../../test/kits/servers/shared-replica-set.ts';
import { storeContract } from '../contract.test-suite.ts';
import { openMongoStore } from './store.ts';

describe.skipIf(!hasMongod)('on a replica set of three', () => {
  let servers: Databases;
  let opened = 0;
  beforeAll(async () => {
    servers = await shareReplicaSet();
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
        await servers.db(name).dropDatabase();
      },
    };
  });
});
