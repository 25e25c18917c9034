import { describe, expect, it } from 'vitest';
import { ADMIN_PASSWORD, buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import type { MeshError } from '../base/errors.ts';
import { memoryCells } from '../base/memory-cells.ts';
import { buildLoginLocks, type NameAttempts } from './login-locks.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const OUTSIDE = '203.0.113.7';
const OFFICE = '198.51.100.4';

function prepared() {
  const clock = { at: 1_000_000, now: () => clock.at };
  const cells = {
    accounts: memoryCells<NameAttempts>(clock, 100_000),
    strangers: memoryCells<NameAttempts>(clock, 10_000),
  };
  const locks = buildLoginLocks(clock, { lockAfter: 10, lockMs: 30 * MINUTE_MS }, cells);
  const placeOf = (source: string, knownSources: readonly string[] | undefined = []) => ({
    ...{ source, site: source, knownSources },
  });
  const fail = async (source: string, known?: readonly string[] | null, name = 'ada') => {
    const place = { ...placeOf(source), knownSources: known === null ? undefined : (known ?? []) };
    try {
      await locks.refuseLocked(name, place);
      await locks.count(name, place);
      return 'in';
    } catch (error) {
      return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
    }
  };
  return { clock, locks, fail, placeOf };
}

/** One after the other. */
async function times<T>(count: number, make: (index: number) => T | Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index += 1) made.push(await make(index));
  return made;
}

describe('ten failed logins in a row', () => {
  it('lock the account for 30 minutes, at the address that they came from and at no other', async () => {
    const { clock, fail } = prepared();
    expect((await times(11, () => fail(OUTSIDE, [OFFICE]))).slice(-2)).toEqual(['in', 1_800]);
    expect([await fail('192.0.2.1', [OFFICE]), await fail(OUTSIDE, [], 'bob')]).toEqual(['in', 'in']);
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
    expect(await times(11, () => fail(OUTSIDE, null, 'nobody'))).toEqual([...Array(10).fill('in'), 1_800]);
  });

  it('lock for twice as long each time, up to a day, and begin anew after a quiet day', async () => {
    const { clock, fail } = prepared();
    const lasted = await times(8, async () => {
      const answers = await times(11, () => fail(OFFICE, [OFFICE]));
      const seconds = Number(answers.at(-1));
      clock.at += seconds * 1_000;
      return seconds / 3_600;
    });
    expect(lasted).toEqual([0.5, 1, 2, 4, 8, 16, 24, 24]);
    clock.at += 24 * HOUR_MS;
    expect((await times(11, () => fail(OFFICE, [OFFICE]))).at(-1)).toBe(1_800);
  });

  it('are not forgotten for a flood of names that are none', async () => {
    const { fail } = prepared();
    await times(10, () => fail(OUTSIDE));
    for (let i = 0; i < 25_000; i += 1) await fail(OUTSIDE, null, `made-up-${i}`);
    expect(await fail(OUTSIDE)).toBe(1_800);
  });

  it('are no more than that: one that succeeds, or is lifted, begins anew', async () => {
    const { locks, fail, placeOf } = prepared();
    await times(9, () => fail(OFFICE, [OFFICE]));
    await (await locks.count('ada', placeOf(OFFICE, [OFFICE]))).clear();
    await times(10, () => fail(OFFICE, [OFFICE]));
    const locksOfAda = async () => (await locks.locksOf(['ada'])).get('ada');
    expect(await locksOfAda()).toEqual([{ source: OFFICE, until: 1_000_000 + 30 * MINUTE_MS }]);
    expect([await locks.lift('ada'), await fail(OFFICE, [OFFICE])]).toEqual([1, 'in']);
    expect(await locksOfAda()).toEqual([]);
  });

  it('do not count an attempt that is taken back, were it the tenth', async () => {
    const { locks, fail, placeOf } = prepared();
    await times(9, () => fail(OUTSIDE));
    for (let back = 0; back < 5; back += 1) await (await locks.count('ada', placeOf(OUTSIDE))).takeBack();
    expect([await fail(OUTSIDE), await fail(OUTSIDE)]).toEqual(['in', 1_800]);
  });
});

describe('an account that is tried from many new addresses', () => {
  const address = (n: number) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;

  it('is tried 2,900 times a day at most, from however many, and from the usual place at once', async () => {
    const { clock, fail } = prepared();
    const end = clock.at + 24 * HOUR_MS;
    let tried = 0;
    for (let n = 0; clock.at < end; n += 1) {
      const answer = await fail(address(n % 5_000), [OFFICE]);
      if (answer === 'in') tried += 1;
      else clock.at += 1_000;
    }
    expect(tried).toBeGreaterThan(2_800);
    expect(tried).toBeLessThanOrEqual(20 + 24 * 120);
    expect(await fail(OFFICE, [OFFICE])).toBe('in');
  });

  it('lets its person in from another new address at once, while those who guessed go on', async () => {
    const { clock, fail } = prepared();
    for (let second = 0; second < 7_200; second += 10) {
      clock.at += 10_000;
      for (let guesser = 0; guesser < 15; guesser += 1) await fail(address(guesser), [OFFICE]);
      if (second % 600 === 0) expect(await fail(`192.0.2.${second / 600}`, [OFFICE])).toBe('in');
    }
  });

  it('lets its person in after typing errors, each of which costs half a minute more at most', async () => {
    const { clock, fail } = prepared();
    const guess = async () => {
      for (let guesser = 100; guesser < 115; guesser += 1) await fail(address(guesser), [OFFICE]);
    };
    for (let minute = 0; minute < 60; minute += 1) {
      clock.at += MINUTE_MS;
      await guess();
    }
    for (let tries = 0; tries < 5; tries += 1) {
      let waited = 0;
      for (; (await fail(OUTSIDE, [OFFICE])) !== 'in'; waited += 1) {
        clock.at += 1_000;
        await guess();
      }
      expect(waited).toBeLessThanOrEqual(30 * (tries + 1));
    }
  });

  it('takes those that are one site for one', async () => {
    const { clock, locks, fail } = prepared();
    const ofSite = (n: number) => ({ source: `2001db8000000000/${n}`, site: '2001db80000', knownSources: [OFFICE] });
    const guess = (n: number) => locks.count('ada', ofSite(n)).catch(() => undefined);
    for (let minute = 0; minute < 100; minute += 1) {
      clock.at += MINUTE_MS;
      for (let n = 0; n < 50; n += 1) await guess(50 * minute + n);
    }
    expect(await fail(OUTSIDE, [OFFICE])).toBe('in');
  });

  it('does not lose a turn to a try that is taken back', async () => {
    const { locks, fail, placeOf } = prepared();
    for (let n = 0; n < 200; n += 1) await (await locks.count('ada', placeOf(address(n)))).takeBack();
    for (let n = 200; n < 400; n += 1) await (await locks.count('ada', placeOf(address(n)))).clear();
    expect((await times(21, (n) => fail(address(n)))).slice(-2)).toEqual(['in', 30]);
  });
});

describe('one-time codes', () => {
  it('are guessed no more than some thousand times in a year, from however many addresses that are new', async () => {
    const { clock, locks, placeOf } = prepared();
    const end = clock.at + 365 * 24 * HOUR_MS;
    let tried = 0;
    while (clock.at < end) {
      try {
        await locks.countCode('ada', placeOf(`2001:db8:${tried}::/64`));
        tried += 1;
      } catch (error) {
        clock.at += (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds * 1_000;
      }
    }
    expect(tried).toBeLessThan(4_000);
  });

  it('that others guessed keep nobody out where they signed in before', async () => {
    const { locks, placeOf } = prepared();
    await times(10, (n) => locks.countCode('ada', placeOf(`192.0.2.${n}`, [OFFICE])));
    await expect(locks.countCode('ada', placeOf(OUTSIDE, [OFFICE]))).rejects.toMatchObject({ code: 'rate_limited' });
    await locks.countCode('ada', placeOf(OFFICE, [OFFICE]));
    expect((await locks.locksOf(['ada'])).get('ada')).toEqual([{ until: 1_000_000 + 30 * MINUTE_MS }]);
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

  it('lets its person in from an address that is new, while others go on guessing', async () => {
    await using kit = await locked();
    expect(await kit.login('admin', ADMIN_PASSWORD, '192.0.2.1')).toEqual(expect.any(String));
    for (let guess = 0; guess < 30; guess += 1) {
      await kit.login('admin', 'wrong', `203.0.113.${100 + guess}`).catch(() => undefined);
    }
    const refused = await kit.login('admin', ADMIN_PASSWORD, '192.0.2.2').catch((error: unknown) => error);
    const { code, message, details } = refused as MeshError;
    expect([code, message]).toEqual([
      'rate_limited',
      'Too many failed logins for this account from new addresses: try again in 30 seconds. ' +
        'From an address that you signed in from before, you can sign in at once.',
    ]);
    expect(await kit.login('admin', ADMIN_PASSWORD, '192.0.2.1')).toEqual(expect.any(String));
    kit.clock.time += Number(details?.['retryAfterSeconds']) * 1_000;
    for (let guess = 0; guess < 8; guess += 1) {
      await kit.login('admin', 'wrong', `203.0.113.${100 + guess}`).catch(() => undefined);
    }
    expect(await kit.login('admin', ADMIN_PASSWORD, '192.0.2.2')).toEqual(expect.any(String));
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
