import { expect, test } from 'vitest';
import { judging } from './try-password.ts';

test('an attempt that comes to no judgement is taken back, and one that does is left as it is', async () => {
  let takenBack = 0;
  const passed = async () => {
    takenBack += 1;
  };
  const attempt = { passed, succeeded: passed, incomplete: passed, triesCode: passed, lockedUntil: undefined };
  await expect(judging(attempt, () => Promise.reject(new Error('no memory')))).rejects.toThrow('no memory');
  expect(takenBack).toBe(1);
  expect(await judging(attempt, () => Promise.resolve(false))).toBe(false);
  expect(takenBack).toBe(1);
});
