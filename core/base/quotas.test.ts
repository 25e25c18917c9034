import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createQuotas, type QuotaKey, type Quotas, quotaKeysOf } from './quotas.ts';

const TOTAL = 1_000;
const keysOf = (principal: string, workspace: string) => quotaKeysOf({ id: principal }, [workspace]);

/** Takes as many as it gets. */
function fill(shares: Quotas, keys: readonly QuotaKey[]): number {
  let count = 0;
  while (shares.acquire(keys).ok) count += 1;
  return count;
}

describe('of a thousand', () => {
  it('one principal gets a tenth, and another in the same workspace gets some then', () => {
    const shares = createQuotas('event streams', TOTAL);
    expect(fill(shares, keysOf('greedy', 'w_1'))).toBe(100);
    expect(fill(shares, keysOf('other', 'w_1'))).toBe(80);
  });

  it('one workspace never has more than half, however many principals it sends, and another gets its own', () => {
    const shares = createQuotas('event streams', TOTAL);
    let held = 0;
    for (let count = 0; count < 1_000; count += 1) held += fill(shares, keysOf(`p${count}`, 'w_1'));
    expect(held).toBe(500);
    expect(fill(shares, keysOf('victim', 'w_2'))).toBe(50);
  });

  it('a sub-agent takes from the share of its root, and leaves some to its siblings', () => {
    const shares = createQuotas('event streams', TOTAL);
    const child = (id: string) => quotaKeysOf({ id, line: [id, 'root'] }, ['w_1']);
    expect(fill(shares, child('first'))).toBe(39);
    expect(fill(shares, child('second'))).toBe(24);
    for (let count = 0; count < 100; count += 1) fill(shares, child(`more-${count}`));
    expect(shares.held).toBe(100);
    expect(fill(shares, keysOf('root', 'w_1'))).toBe(0);
  });

  it('who holds nothing gets one whatever eight principals of the workspace took', () => {
    const shares = createQuotas('event streams', TOTAL);
    for (let round = 0; round < 2; round += 1) {
      for (let count = 0; count < 8; count += 1) fill(shares, keysOf(`p${count}`, 'w_1'));
    }
    expect(shares.acquire(keysOf('newcomer', 'w_1')).ok).toBe(true);
  });
});

it('what is given back is there for others, and giving it back twice is no error', () => {
  const shares = createQuotas('places', 1);
  const acquired = shares.acquire(keysOf('a', 'w_1'));
  expect(shares.acquire(keysOf('b', 'w_2'))).toEqual({ ok: false, key: { kind: 'workspace', id: 'w_2' } });
  if (!acquired.ok) throw new Error('refused');
  acquired.release();
  acquired.release();
  expect([shares.held, shares.acquire(keysOf('b', 'w_2')).ok]).toEqual([0, true]);
});

it('a refusal names the limit, whose share it is and when to come back', () => {
  const shares = createQuotas('event streams', 20);
  const keys = keysOf('a', 'w_1');
  fill(shares, keys);
  expect(() => shares.take(keys)).toThrow(
    expect.objectContaining({
      code: 'rate_limited',
      message: 'Your share of the event streams is in use: close one, or try again later.',
      details: { limit: 'event streams', share: 'principal', retryAfterSeconds: 30 },
    }),
  );
});

it('a caller in several workspaces takes from the share of each', () => {
  expect(quotaKeysOf({ id: 'u_1' }, ['w_1', 'w_2', 'w_1'])).toEqual([
    { kind: 'workspace', id: 'w_1' },
    { kind: 'workspace', id: 'w_2' },
    { kind: 'principal', id: 'u_1' },
  ]);
  expect(quotaKeysOf({ id: 'agt_child', line: ['agt_child', 'agt_root'] }, [])).toEqual([
    { kind: 'principal', id: 'agt_root' },
    { kind: 'agent', id: 'agt_child' },
  ]);
});

it('never gives out more than there are, and forgets nothing and nobody', () => {
  const step = fc.record({ principal: fc.nat(5), workspace: fc.nat(3), gives: fc.boolean() });
  fc.assert(
    fc.property(fc.nat(30), fc.array(step, { maxLength: 200 }), (total, steps) => {
      const shares = createQuotas('places', total);
      const held: (() => void)[] = [];
      for (const { principal, workspace, gives } of steps) {
        if (gives) held.shift()?.();
        else {
          const acquired = shares.acquire(keysOf(`p${principal}`, `w${workspace}`));
          if (acquired.ok) held.push(acquired.release);
        }
        expect(shares.held).toBe(held.length);
        expect(held.length).toBeLessThanOrEqual(total);
      }
      for (const release of held) release();
      expect(shares.acquire(keysOf('p0', 'w0')).ok).toBe(total > 0);
    }),
  );
});
