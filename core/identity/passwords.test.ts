import { describe, expect, it } from 'vitest';
import { withWriteSlot } from './hash-queue.ts';
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

describe('of password checks at once', () => {
  // A hash of least cost, in the form of any other.
  const cheap = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
  const check = (source: string, isKnown = false) =>
    verifyPassword('x', cheap, { source, isKnown }).catch((error: { code: string }) => error.code);
  const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, i) => make(i));

  it('one source has 16 that wait, more are turned away, and another source finds room', async () => {
    const flood = times(20, () => check('203.0.113.7'));
    const other = check('198.51.100.7');
    expect(await Promise.all(flood)).toEqual([...times(18, () => false), 'rate_limited', 'rate_limited']);
    expect(await other).toBe(false);
  });

  it('those from known places do not wait behind a flood from 800 others', async () => {
    const begun: string[] = [];
    const ask = (source: string, isKnown = false) =>
      withWriteSlot({ source, isKnown }, async () => void begun.push(source)).catch(() => {});
    await Promise.all([...times(800, (i) => ask(`flood ${i}`)), ask('192.0.2.1', true)]);
    expect(begun).toHaveLength(2 + 32 + 1);
    // The two that ran already, and at most one in between.
    expect(begun.indexOf('192.0.2.1')).toBeLessThan(4);
    expect(await check('192.0.2.1')).toBe(false);
  });
});
