import { expect, test } from 'vitest';
import { formatInstant, parseInstant } from '../base/time.ts';
import { lastDaily, nextDaily } from './daily-schedule.ts';

test.each([
  ['UTC', '2026-01-05T01:59:59.999Z', '2026-01-04T02:00:00.000Z', '2026-01-05T02:00:00.000Z'],
  ['UTC', '2026-01-05T02:00:00.000Z', '2026-01-05T02:00:00.000Z', '2026-01-06T02:00:00.000Z'],
  ['Asia/Kolkata', '2026-01-05T12:00:00.000Z', '2026-01-04T20:30:00.000Z', '2026-01-05T20:30:00.000Z'],
  ['Pacific/Kiritimati', '2026-01-05T12:00:00.000Z', '2026-01-05T12:00:00.000Z', '2026-01-06T12:00:00.000Z'],
  ['America/New_York', '2026-01-05T12:00:00.000Z', '2026-01-05T07:00:00.000Z', '2026-01-06T07:00:00.000Z'],
])('in %s at %s the last 02:00 was %s and the next is %s', (zone, now, last, next) => {
  expect([
    formatInstant(lastDaily(parseInstant(now), 2, zone)),
    formatInstant(nextDaily(parseInstant(now), 2, zone)),
  ]).toEqual([last, next]);
});

test('on the day that has no 02:00 it is due when the clocks jump, and the day after at 02:00 summer time', () => {
  const before = parseInstant('2026-03-29T00:30:00Z');
  const jump = nextDaily(before, 2, 'Europe/Zurich');
  expect(formatInstant(jump)).toBe('2026-03-29T01:00:00.000Z');
  expect(formatInstant(nextDaily(jump, 2, 'Europe/Zurich'))).toBe('2026-03-30T00:00:00.000Z');
});

test('on the day that has 02:00 twice it is due at the first', () => {
  const first = nextDaily(parseInstant('2026-10-24T12:00:00Z'), 2, 'Europe/Zurich');
  expect(formatInstant(first)).toBe('2026-10-25T00:00:00.000Z');
  expect(formatInstant(nextDaily(first, 2, 'Europe/Zurich'))).toBe('2026-10-26T01:00:00.000Z');
});

test('every day of a year has exactly one', () => {
  let at = parseInstant('2026-01-01T00:00:00Z');
  const end = parseInstant('2027-01-01T00:00:00Z');
  let count = 0;
  for (at = nextDaily(at, 2, 'America/New_York'); at < end; at = nextDaily(at, 2, 'America/New_York')) {
    expect(lastDaily(at, 2, 'America/New_York')).toBe(at);
    count += 1;
  }
  expect(count).toBe(365);
});
