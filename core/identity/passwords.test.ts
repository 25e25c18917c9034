import { describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from './passwords.ts';

describe('a password hash', () => {
  it('is argon2id with a salt of its own, and verifies its password alone', async () => {
    const [one, two] = [await hashPassword('correct horse'), await hashPassword('correct horse')];
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(one).not.toBe(two);
    expect(await verifyPassword('correct horse', one)).toBe(true);
    expect(await verifyPassword('correct  horse', one)).toBe(false);
  });

  it('of one spelling verifies the other spelling of the same letters', async () => {
    expect(await verifyPassword('caf\u00e9-caf\u00e9', await hashPassword('cafe\u0301-cafe\u0301'))).toBe(true);
  });

  it('that is missing or damaged verifies nothing', async () => {
    for (const hash of [undefined, '', 'plain', '$argon2id$v=19$m=1,t=1,p=1$$']) {
      expect(await verifyPassword('correct horse', hash)).toBe(false);
    }
  });
});

it('more logins at once than may wait are turned away, and the others are served', async () => {
  // A hash of least cost, in the form of any other.
  const cheap = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => verifyPassword('x', cheap)));
  const codes = outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : outcome.value));
  expect(codes).toEqual([
    ...Array.from({ length: 34 }, () => false),
    ...Array.from({ length: 6 }, () => 'rate_limited'),
  ]);
  expect(await verifyPassword('x', cheap)).toBe(false);
});
