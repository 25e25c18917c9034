import { expect, test } from 'vitest';
import { buildUsedOnce } from './used-once.ts';

const clock = { now: () => 0 };
const soon = (what: string) => ({ what, expiresAt: 60_000 });

test('a secret counts once, and again for who used it first', async () => {
  const { use } = buildUsedOnce({ clock });
  expect(await use({ purpose: 'workload', ...soon('token'), by: 'key' })).toBe(true);
  expect(await use({ purpose: 'workload', ...soon('token'), by: 'key' })).toBe(true);
  expect(await use({ purpose: 'workload', ...soon('token'), by: 'other' })).toBe(false);
  expect(await use({ purpose: 'passkey', ...soon('token') })).toBe(true);
  expect(await use({ purpose: 'passkey', ...soon('token') })).toBe(false);
});

test('nobody makes a use of another forgotten: one with too many of its own is refused', async () => {
  const { use } = buildUsedOnce({ clock });
  const mine = (n: number) => use({ purpose: 'client-assertion', ...soon(`mine ${n}`), tag: 'me' });
  await use({ purpose: 'client-assertion', ...soon('theirs'), tag: 'them' });
  for (let n = 0; n < 200; n += 1) expect(await mine(n)).toBe(true);
  await expect(mine(200)).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await use({ purpose: 'client-assertion', ...soon('theirs'), tag: 'them' })).toBe(false);
});
