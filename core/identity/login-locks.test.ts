import { describe, expect, it } from 'vitest';
import { ADMIN_PASSWORD, buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { memoryCells } from '../base/memory-cells.ts';
import { buildLoginLocks, type Tried } from './login-locks.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const OUTSIDE = '203.0.113.7';
const OFFICE = '198.51.100.4';

function prepared() {
  const clock = { at: 1_000_000, now: () => clock.at };
  const cells = { accounts: memoryCells<Tried>(clock, 100_000), strangers: memoryCells<Tried>(clock, 10_000) };
  const locks = buildLoginLocks(clock, { lockAfter: 10, lockMs: 30 * MINUTE_MS }, cells);
  const fail = async (source: string, known: readonly string[] | undefined = [], name = 'ada') => {
    try {
      await locks.refuseLocked(name, source, known);
      await locks.count(name, source, known);
      return 'in';
    } catch (error) {
      return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
    }
  };
  return { clock, locks, fail };
}

/** One after the other. */
async function times<T>(count: number, make: (index: number) => T | Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index += 1) made.push(await make(index));
  return made;
}

describe('ten failed logins in a row', () => {
  it('lock the account for 30 minutes, from all networks that it did not sign in from', async () => {
    const { clock, fail } = prepared();
    expect((await times(11, (i) => fail(`203.0.113.${i}`, [OFFICE]))).slice(-2)).toEqual(['in', 1_800]);
    expect([await fail('192.0.2.1', [OFFICE]), await fail(OUTSIDE, [], 'bob')]).toEqual([1_800, 'in']);
    clock.at += 30 * MINUTE_MS - 1;
    expect(await fail(OUTSIDE, [OFFICE])).toBe(1);
    clock.at += 1;
    expect(await fail(OUTSIDE, [OFFICE])).toBe('in');
  });

  it('leave this machine and each network that it signed in from to themselves', async () => {
    const { fail } = prepared();
    await times(10, () => fail(OUTSIDE, [OFFICE]));
    expect((await times(11, () => fail(OFFICE, [OFFICE]))).slice(-2)).toEqual(['in', 1_800]);
    expect([await fail('127.0.0.1', [OFFICE]), await fail(OUTSIDE, [OFFICE])]).toEqual(['in', 1_800]);
  });

  it('lock a name without an account alike', async () => {
    const { fail } = prepared();
    expect(await times(11, () => fail(OUTSIDE, undefined, 'nobody'))).toEqual([...Array(10).fill('in'), 1_800]);
  });

  it('lock for twice as long each time, up to a day, and begin anew after a quiet day', async () => {
    const { clock, fail } = prepared();
    const lasted = await times(8, async () => {
      const answers = await times(11, () => fail(OUTSIDE));
      const seconds = Number(answers.at(-1));
      clock.at += seconds * 1_000;
      return seconds / 3_600;
    });
    expect(lasted).toEqual([0.5, 1, 2, 4, 8, 16, 24, 24]);
    clock.at += 24 * HOUR_MS;
    expect((await times(11, () => fail(OUTSIDE))).at(-1)).toBe(1_800);
  });

  it('let a year of guessing try no more than some thousand codes of a million', async () => {
    const { clock, fail } = prepared();
    const end = clock.at + 365 * 24 * HOUR_MS;
    let tried = 0;
    while (clock.at < end) {
      const answer = await fail(OUTSIDE);
      if (answer === 'in') tried += 1;
      else clock.at += Number(answer) * 1_000;
    }
    expect(tried).toBeLessThan(4_000);
  });

  it('are not forgotten for a flood of names that are none', async () => {
    const { fail } = prepared();
    await times(10, () => fail(OUTSIDE));
    for (let i = 0; i < 25_000; i += 1) await fail(OUTSIDE, undefined, `made-up-${i}`);
    expect(await fail(OUTSIDE)).toBe(1_800);
  });

  it('are no more than that: one that succeeds, or is lifted, begins anew', async () => {
    const { locks, fail } = prepared();
    await times(9, () => fail(OUTSIDE));
    await (await locks.count('ada', OUTSIDE, [])).clear();
    await times(10, () => fail(OUTSIDE));
    const locksOfAda = async () => (await locks.locksOf(['ada'])).get('ada');
    expect(await locksOfAda()).toEqual([{ until: 1_000_000 + 30 * MINUTE_MS }]);
    expect([await locks.lift('ada'), await fail(OUTSIDE)]).toEqual([1, 'in']);
    expect(await locksOfAda()).toEqual([]);
  });

  it('do not count an attempt that is taken back, were it the tenth', async () => {
    const { locks, fail } = prepared();
    await times(9, () => fail(OUTSIDE));
    for (let back = 0; back < 5; back += 1) await (await locks.count('ada', OUTSIDE, [])).takeBack();
    expect([await fail(OUTSIDE), await fail(OUTSIDE)]).toEqual(['in', 1_800]);
  });
});

describe('a locked account', () => {
  async function locked() {
    const kit = await buildIdentityKit();
    await kit.login('admin', ADMIN_PASSWORD, OFFICE);
    for (let guess = 0; guess < 10; guess += 1) {
      kit.clock.time += MINUTE_MS;
      await kit.login('admin', 'wrong', OUTSIDE).catch(() => undefined);
    }
    return kit;
  }

  it('lets nobody in from there, were the password right, and in from where it was before', async () => {
    await using kit = await locked();
    await expect(kit.login('admin', ADMIN_PASSWORD, OUTSIDE)).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('locked here for 30 minutes'),
    });
    expect(await kit.login('admin', ADMIN_PASSWORD, OFFICE)).toEqual(expect.any(String));
    expect(await kit.login('admin', ADMIN_PASSWORD)).toEqual(expect.any(String));
  });

  it('is answered as a name that there is none of', async () => {
    await using kit = await locked();
    for (let guess = 0; guess < 10; guess += 1) {
      kit.clock.time += MINUTE_MS;
      await kit.login('nobody', 'wrong', '192.0.2.9').catch(() => undefined);
    }
    for (let guess = 0; guess < 2; guess += 1) {
      kit.clock.time += 25 * HOUR_MS * 2;
      const answers = [];
      for (const name of ['admin', 'nobody']) {
        for (let tries = 0; tries < 10; tries += 1) {
          kit.clock.time += 15_000;
          await kit.login(name, 'wrong', '192.0.2.77').catch(() => undefined);
        }
        const error = await kit.login(name, 'wrong', '192.0.2.77').catch((problem: unknown) => problem);
        const { code, message, details } = error as { code: string; message: string; details: object };
        answers.push({ code, message, details });
      }
      expect(answers[0]).toEqual(answers[1]);
    }
  });

  it('is on record and in the list of accounts, until an administrator lifts it', async () => {
    await using kit = await locked();
    const until = new Date(kit.clock.time + 30 * MINUTE_MS).toISOString();
    expect((await kit.events()).at(-1)).toMatchObject({
      ...{ type: 'account_locked', actor: 'user:admin', origin: OUTSIDE, detail: { until } },
    });
    const bearer = await kit.admin();
    const listed = () => kit.call<{ items: unknown[] }>('list_users', {}, { bearer });
    expect((await listed()).items).toMatchObject([{ username: 'admin', lockedUntil: until }]);
    expect(await kit.call('unlock_user', { username: 'admin' }, { bearer })).toEqual({ lifted: 1 });
    expect((await listed()).items[0]).not.toHaveProperty('lockedUntil');
    expect(await kit.login('admin', ADMIN_PASSWORD, OUTSIDE)).toEqual(expect.any(String));
    expect((await kit.events()).find(({ type }) => type === 'account_unlocked')).toMatchObject({
      ...{ actor: 'user:admin', detail: { account: 'admin', locks: 1 } },
    });
  });
});
