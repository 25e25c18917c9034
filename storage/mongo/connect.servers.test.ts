import { afterAll, beforeAll, describe, test } from 'vitest';
import { freePort } from '../../test/kits/servers/free-port.ts';
import { hasMongod, startLoneServer } from '../../test/kits/servers/replica-set.ts';
import { connect } from './connect.ts';

describe.skipIf(!hasMongod).concurrent('who names a primary that is not reached', () => {
  let lone: Awaited<ReturnType<typeof startLoneServer>>;
  beforeAll(async () => {
    lone = await startLoneServer();
  });
  afterAll(() => lone.stop());

  test('is told which server is not of the set that was named, and what to do', async ({ expect }) => {
    const { host } = new URL(lone.url);
    await expect(connect(`${lone.url}?replicaSet=other`)).rejects.toThrow(
      new RegExp(`MongoDB answers at ${host}, but not as the replica set other: .*replicaSet=.*rs\\.initiate`),
    );
  });

  test('is told that nothing answers there', async ({ expect }) => {
    const place = `127.0.0.1:${await freePort()}`;
    await expect(connect(`mongodb://${place}/mesh?replicaSet=rs0`)).rejects.toThrow(
      `no primary of MongoDB is reached (connect ECONNREFUSED ${place}): start its servers, or name the right ones`,
    );
  });
});
