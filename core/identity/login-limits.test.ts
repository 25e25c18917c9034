import { describe, expect, it } from 'vitest';
import { buildLoginLimits } from './login-limits.ts';

/** What a minute lets in is what is tested here; locks are in `login-locks.test.ts`. */
const RULES = { lockAfter: 1_000_000, lockMs: 1 };

function prepared() {
  const clock = { at: 1_000_000, now: () => clock.at };
  const limits = buildLoginLimits(clock, RULES);
  const attempt = (origin: string, name = 'ada') => {
    try {
      limits.attempt(origin, name, undefined);
      return 'in';
    } catch (error) {
      return (error as { details: { retryAfterSeconds: number } }).details.retryAfterSeconds;
    }
  };
  return { clock, limits, attempt };
}

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

describe('login limits', () => {
  it('hold for an address and an account, and leave others alone', () => {
    const { attempt } = prepared();
    expect(times(6, () => attempt('203.0.113.7'))).toEqual(['in', 'in', 'in', 'in', 'in', 60]);
    expect([attempt('203.0.113.7', 'bob'), attempt('203.0.113.8')]).toEqual(['in', 'in']);
  });

  it('let one more in as each attempt becomes a minute old', () => {
    const { clock, attempt } = prepared();
    for (let i = 0; i < 5; i += 1) {
      attempt('203.0.113.7');
      clock.at += 10_000;
    }
    expect(attempt('203.0.113.7')).toBe(10);
    clock.at += 10_000;
    expect([attempt('203.0.113.7'), attempt('203.0.113.7')]).toEqual(['in', 10]);
  });

  it('do not start anew because a refused client keeps trying', () => {
    const { clock, attempt } = prepared();
    times(5, () => attempt('203.0.113.7'));
    for (let i = 0; i < 59; i += 1) {
      clock.at += 1_000;
      expect(attempt('203.0.113.7')).toBe(59 - i);
    }
    clock.at += 1_000;
    expect(attempt('203.0.113.7')).toBe('in');
  });

  it('hold an address that tries many accounts', () => {
    const { attempt } = prepared();
    expect(times(31, (i) => attempt('203.0.113.7', `user${i}`)).at(-1)).toBe(60);
  });

  it('hold a whole IPv6 network of 64 bits, and an IPv4 address in either form', () => {
    const { attempt } = prepared();
    expect(times(6, (i) => attempt(`2001:db8:1:2::${i}`)).at(-1)).toBe(60);
    expect(attempt('2001:db8:1:3::1')).toBe('in');
    expect(times(6, (i) => attempt(`2001::1:2:3:4:${i}`)).at(-1)).toBe(60);
    expect([attempt('2001::9:2:3:4:5'), attempt('2001:0:0:1::7')]).toEqual(['in', 60]);
    expect(times(6, (i) => attempt(i % 2 ? '203.0.113.7' : '::ffff:203.0.113.7')).at(-1)).toBe(60);
  });

  it('forget an attempt that succeeded', () => {
    const { limits, attempt } = prepared();
    times(20, () => limits.attempt('203.0.113.7', 'ada', []).succeeded());
    expect(attempt('203.0.113.7')).toBe('in');
  });

  it('keep a bounded number of sources', () => {
    const { limits, attempt } = prepared();
    times(5, () => attempt('203.0.113.7'));
    for (let i = 0; i < 25_000; i += 1) limits.attempt(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`, 'ada', undefined);
    expect(attempt('203.0.113.7')).toBe('in');
  });
});
