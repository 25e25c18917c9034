import { describe, expect, test } from 'vitest';
import { unreachableReason } from './unreachable.ts';

const TIMED_OUT = 'Server selection timed out after 15000 ms';
const seen = (servers: Record<string, string>) => ({
  message: TIMED_OUT,
  reason: { setName: 'rs0', servers: new Map(Object.entries(servers).map(([place, type]) => [place, { type }])) },
});
const plainly = `no primary of MongoDB is reached (${TIMED_OUT}): start its servers, or name the right ones`;

describe('where no primary is reached', () => {
  test('servers that answer and are not in the named set are told from one that does not answer', () => {
    expect(unreachableReason(seen({ 'db3:27017': 'Unknown' }), ['db1:27017', 'db2:27017', 'db3:27017'])).toMatch(
      /^MongoDB answers at db1:27017 and db2:27017, but not as the replica set rs0: .*replicaSet=.*rs\.initiate\(\)$/,
    );
  });

  test('members of a set that was never initiated are named, with what to do', () => {
    expect(
      unreachableReason(seen({ 'db1:27017': 'RSGhost', 'db2:27017': 'Unknown' }), ['db1:27017', 'db2:27017']),
    ).toMatch(/^MongoDB answers at db1:27017, but its replica set has no configuration: run rs\.initiate\(\)/);
  });

  test.each([
    ['no server answers', seen({ 'db1:27017': 'Unknown' })],
    ['the set answers by other addresses and has no majority', seen({ 'db9:27017': 'RSSecondary' })],
    ['the driver says nothing more', { message: TIMED_OUT }],
  ])('it is said what the driver says, as %s', (_, error) => {
    expect(unreachableReason(error, ['db1:27017'])).toBe(plainly);
  });
});
