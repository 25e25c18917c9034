import { describe, expect, it } from 'vitest';
import { memoryCells } from '../base/memory-cells.ts';
import { StoreError } from '../base/ports.ts';
import type { Cells } from '../base/shared.ts';
import { silentLog } from '../base/silent-log.ts';
import type { LoginLimits } from '../model/services.ts';
import { buildLoginLimits } from './login-limits.ts';

/** What a minute lets in is what is tested here; locks are in `login-locks.test.ts`. */
const RULES = { lockAfter: 1_000_000, lockMs: 1 };

function prepared() {
  const clock = { at: 1_000_000, now: () => clock.at };
  const limits = buildLoginLimits({ clock, log: silentLog, rules: RULES });
  const attempt = async (origin: string, name = 'ada') => {
    try {
      await limits.attempt(origin, name, undefined);
      return 'in';
    } catch (error) {
      return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
    }
  };
  return { clock, limits, attempt };
}

/** One after the other. */
async function times<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = [];
  for (let index = 0; index < count; index += 1) made.push(await make(index));
  return made;
}

describe('login limits', () => {
  it('hold for an address and an account, and leave others alone', async () => {
    const { attempt } = prepared();
    expect(await times(6, () => attempt('203.0.113.7'))).toEqual(['in', 'in', 'in', 'in', 'in', 60]);
    expect([await attempt('203.0.113.7', 'bob'), await attempt('203.0.113.8')]).toEqual(['in', 'in']);
  });

  it('let one more in as each attempt becomes a minute old', async () => {
    const { clock, attempt } = prepared();
    for (let i = 0; i < 5; i += 1) {
      await attempt('203.0.113.7');
      clock.at += 10_000;
    }
    expect(await attempt('203.0.113.7')).toBe(10);
    clock.at += 10_000;
    expect([await attempt('203.0.113.7'), await attempt('203.0.113.7')]).toEqual(['in', 10]);
  });

  it('do not start anew because a refused client keeps trying', async () => {
    const { clock, attempt } = prepared();
    await times(5, () => attempt('203.0.113.7'));
    for (let i = 0; i < 59; i += 1) {
      clock.at += 1_000;
      expect(await attempt('203.0.113.7')).toBe(59 - i);
    }
    clock.at += 1_000;
    expect(await attempt('203.0.113.7')).toBe('in');
  });

  it('hold an address that tries many accounts', async () => {
    const { attempt } = prepared();
    expect((await times(31, (i) => attempt('203.0.113.7', `user${i}`))).at(-1)).toBe(60);
  });

  it('hold a whole IPv6 network of 64 bits, and an IPv4 address in either form', async () => {
    const { attempt } = prepared();
    expect((await times(6, (i) => attempt(`2001:db8:1:2::${i}`))).at(-1)).toBe(60);
    expect(await attempt('2001:db8:1:3::1')).toBe('in');
    expect((await times(6, (i) => attempt(`2001::1:2:3:4:${i}`, 'bob'))).at(-1)).toBe(60);
    expect([await attempt('2001::9:2:3:4:5', 'bob'), await attempt('2001:0:0:1::7', 'bob')]).toEqual(['in', 60]);
    expect((await times(6, (i) => attempt(i % 2 ? '203.0.113.7' : '::ffff:203.0.113.7', 'eve'))).at(-1)).toBe(60);
  });

  it('forget an attempt that succeeded', async () => {
    const { limits, attempt } = prepared();
    for (let i = 0; i < 20; i += 1) await (await limits.attempt('203.0.113.7', 'ada', [])).succeeded();
    expect(await attempt('203.0.113.7')).toBe('in');
  });

  it('keep a bounded number of sources', async () => {
    const { limits, attempt } = prepared();
    await times(5, () => attempt('203.0.113.7'));
    for (let i = 0; i < 25_000; i += 1)
      await limits.attempt(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, `made-up-${i}`, undefined);
    expect(await attempt('203.0.113.7')).toBe('in');
  });
});

describe('login limits of several control planes', () => {
  /** As many as share one memory. */
  function planes(count: number) {
    const clock = { now: () => 1_000_000 };
    const warnings: string[] = [];
    const spaces = new Map<string, Cells<unknown>>();
    let isAway = false;
    const cells = <T>(space: string) => {
      const known = spaces.get(space) ?? memoryCells<unknown>(clock, 1_000);
      spaces.set(space, known);
      const change: Cells<T>['change'] = async (...asked) => {
        if (isAway) throw new StoreError('unavailable', 'the database');
        return (known as Cells<T>).change(...asked);
      };
      return { ...(known as Cells<T>), change };
    };
    const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
    const rules = { lockAfter: 5, lockMs: 60_000 };
    const each = Array.from({ length: count }, () => buildLoginLimits({ clock, log, rules, shared: { cells } }));
    const leave = () => {
      isAway = true;
    };
    return { warnings, leave, at: (index: number) => each[index % count] as LoginLimits };
  }

  it('let in no more tries of who goes from one to the next, in a minute and in a row', async () => {
    const { at } = planes(3);
    const guess = (index: number, origin: string) =>
      at(index)
        .attempt(origin, 'ada', [])
        .then(() => 'in')
        .catch(({ code }: { code: string }) => code);
    expect(await times(7, (i) => guess(i, '203.0.113.7'))).toEqual([
      ...Array(5).fill('in'),
      ...Array(2).fill('rate_limited'),
    ]);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => guess(i, `198.51.100.${i}`)));
    expect(answers.filter((answer) => answer === 'in')).toHaveLength(15);
    expect((await at(2).locksOf(['ada'])).get('ada')).toEqual([{ source: '203.0.113.7', until: 1_060_000 }]);
    expect([await at(1).lift('ada'), await guess(0, '198.51.100.99')]).toEqual([1, 'in']);
  });

  it('let nobody in while what they share cannot be reached, and fail no login that was let in before', async () => {
    const { at, leave, warnings } = planes(2);
    const attempt = await at(0).attempt('203.0.113.7', 'ada', []);
    leave();
    await attempt.succeeded();
    expect(warnings).toEqual(['a login that was no guess counts as one']);
    await expect(at(1).attempt('203.0.113.8', 'ada', [])).rejects.toMatchObject({ code: 'unavailable' });
  });
});
