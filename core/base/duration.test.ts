import { expect, test } from 'vitest';
import { formatDuration, parseDuration, roughDuration } from './duration.ts';

test.each([
  ['90s', 90_000],
  ['1h30m', 5_400_000],
  ['500ms', 500],
])('%s is %d milliseconds, and back', (text, ms) => {
  expect(parseDuration(text)).toBe(ms);
  expect(parseDuration(formatDuration(ms))).toBe(ms);
});

test.each(['', '0s', '1', 's', '-1s', '1.5h', ' 1s', '9999999999999d', '1ms'.repeat(9)])(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test.each([
  [7_199_989, '1h59m'],
  [7_200_000, '2h'],
  [61_999, '1m1s'],
  [12, 'less than 1s'],
])('a message says %d milliseconds as %s', (ms, text) => {
  expect(roughDuration(ms)).toBe(text);
});
