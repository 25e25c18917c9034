import { expect, test } from 'vitest';
import { inLocalTime } from './local-time.ts';

test.each([
  ['Since 2026-11-29T06:55:13.863Z.', 'Europe/Berlin', 'Since Sunday 2026-11-29 07:55:13 (Europe/Berlin).'],
  ['until 2026-11-29T06:55:00Z, then', 'UTC', 'until Sunday 2026-11-29 06:55 (UTC), then'],
  ['web-1 may not reach db-1.', 'UTC', 'web-1 may not reach db-1.'],
  ['at 2026-99-29T06:55:00Z', 'UTC', 'at 2026-99-29T06:55:00Z'],
])('%s is told by the clocks of the terminal, without parts of a second', (sentence, timeZone, told) => {
  expect(inLocalTime(sentence, timeZone)).toBe(told);
});
