import { expect, test } from 'vitest';
import { memoryCells } from '../base/memory-cells.ts';
import { buildUsedOnce } from './used-once.ts';

const clock = { now: () => 0 };
const soon = (what: string) => ({ what, expiresAt: 60_000 });

test('a secret counts once, and again for who used it first', async () => {
  const { use } = buildUsedOnce({ clock });
  expect(await use({ purpose: 'workload', owner: 'ada', ...soon('token'), by: 'key' })).toBe(true);
  expect(await use({ purpose: 'workload', owner: 'ada', ...soon('token'), by: 'key' })).toBe(true);
  expect(await use({ purpose: 'workload', owner: 'ada', ...soon('token'), by: 'other' })).toBe(false);
  expect(await use({ purpose: 'passkey', owner: 'ada', ...soon('token') })).toBe(true);
  expect(await use({ purpose: 'passkey', owner: 'ada', ...soon('token') })).toBe(false);
});

test('nobody makes a use of another forgotten: one with too many of its own is refused', async () => {
  const { use } = buildUsedOnce({ clock });
  const mine = (n: number) => use({ purpose: 'passkey', owner: 'me', ...soon(`mine ${n}`) });
  await use({ purpose: 'passkey', owner: 'them', ...soon('theirs') });
  for (let n = 0; n < 50; n += 1) expect(await mine(n)).toBe(true);
  await expect(mine(50)).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await use({ purpose: 'passkey', owner: 'them', ...soon('theirs') })).toBe(false);
});

test('what was made before the process began counts no more where the process alone remembers uses', async () => {
  const shared = { cells: () => memoryCells(clock, 10) } as never;
  const before = { purpose: 'passkey', owner: 'ada', ...soon('challenge'), issuedAt: -1 } as const;
  expect(await buildUsedOnce({ clock }).use(before)).toBe(false);
  expect(await buildUsedOnce({ clock, shared }).use(before)).toBe(true);
});
