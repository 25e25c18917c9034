import { describe, expect, test } from 'vitest';
import { requireServer } from './connect.ts';

describe('a MongoDB server', () => {
  test.each(['6.0.5', '7.0.0', '10.1.2'])('of version %s in a replica set is taken', (version) => {
    expect(() => requireServer({ setName: 'rs0', version, place: 'db1:27017' })).not.toThrow();
  });

  test.each(['5.0.14', '4.4.1', undefined])('of version %s is refused, with what to do', (version) => {
    expect(() => requireServer({ setName: 'rs0', version, place: 'db1:27017' })).toThrow(
      /is older than 6\.0, .*upgrade the replica set/,
    );
  });

  test('in no replica set is refused by where it is, whoever named it, with what to do', () => {
    const refused = /the MongoDB server at db1:27017 is no member of a replica set.*rs\.initiate/;
    expect(() => requireServer({ version: '7.0.0', place: 'db1:27017' })).toThrow(refused);
  });
});
