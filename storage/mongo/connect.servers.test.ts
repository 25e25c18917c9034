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

  test('is told in place of a wait that the set was never initiated', async ({ expect }) => {
    const member = await startLoneServer(['--replSet', 'rs0']);
    try {
      const { host } = new URL(member.url);
      const [refused, unreached] = await Promise.allSettled([
        Promise.race([
          connect(`${member.url}?replicaSet=rs0`),
          connect(`mongodb://127.0.0.1:${await freePort()}/mesh`),
        ]),
        connect(member.url),
      ]);
      const words = new RegExp(`^MongoDB answers at ${host}, .*run rs\\.initiate\\(\\)`);
      expect([refused, unreached]).toMatchObject(
        [1, 2].map(() => ({ status: 'rejected', reason: { subject: expect.stringMatching(words) } })),
      );
    } finally {
      await member.stop();
    }
  });

  test('is told that nothing answers there', async ({ expect }) => {
    const place = `127.0.0.1:${await freePort()}`;
    await expect(connect(`mongodb://${place}/mesh?replicaSet=rs0`)).rejects.toThrow(
      `no primary of MongoDB is reached (connect ECONNREFUSED ${place}): start its servers, or name the right ones`,
    );
  });
});
