import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatInstant, parseInstant } from '../base/time.ts';
import { CADENCES } from '../model/frameworks.ts';
import { lastDue, nextDueAt } from './due.ts';

type Cadence = (typeof CADENCES)[number];

test.each([
  // Mid-week, in UTC.
  ['2026-01-14T12:00:00Z', 'daily', 'UTC', '2026-01-14T03:00', '2026-01-13T00:00', '2026-01-14T00:00'],
  ['2026-01-14T02:59:59Z', 'daily', 'UTC', '2026-01-13T03:00', '2026-01-12T00:00', '2026-01-13T00:00'],
  ['2026-01-14T12:00:00Z', 'weekly', 'UTC', '2026-01-12T03:00', '2026-01-05T00:00', '2026-01-12T00:00'],
  ['2026-01-12T02:00:00Z', 'weekly', 'UTC', '2026-01-05T03:00', '2025-12-29T00:00', '2026-01-05T00:00'],
  ['2026-03-14T12:00:00Z', 'monthly', 'UTC', '2026-03-01T03:00', '2026-02-01T00:00', '2026-03-01T00:00'],
  ['2026-01-01T01:00:00Z', 'monthly', 'UTC', '2025-12-01T03:00', '2025-11-01T00:00', '2025-12-01T00:00'],
  ['2026-02-14T12:00:00Z', 'quarterly', 'UTC', '2026-01-01T03:00', '2025-10-01T00:00', '2026-01-01T00:00'],
  // The clocks of Zurich go from 02:00 to 03:00 on 29 March, and from 03:00 to 02:00 on 25 October.
  ['2026-03-29T12:00:00Z', 'daily', 'Europe/Zurich', '2026-03-29T01:00', '2026-03-27T23:00', '2026-03-28T23:00'],
  ['2026-03-30T12:00:00Z', 'daily', 'Europe/Zurich', '2026-03-30T01:00', '2026-03-28T23:00', '2026-03-29T22:00'],
  ['2026-10-25T12:00:00Z', 'daily', 'Europe/Zurich', '2026-10-25T02:00', '2026-10-23T22:00', '2026-10-24T22:00'],
  ['2026-10-26T12:00:00Z', 'daily', 'Europe/Zurich', '2026-10-26T02:00', '2026-10-24T22:00', '2026-10-25T23:00'],
  ['2026-04-01T12:00:00Z', 'quarterly', 'Europe/Zurich', '2026-04-01T01:00', '2025-12-31T23:00', '2026-03-31T22:00'],
  // Midnight is skipped in Santiago on 6 September 2026, when the clocks go to 01:00.
  ['2026-09-06T12:00:00Z', 'daily', 'America/Santiago', '2026-09-06T06:00', '2026-09-05T04:00', '2026-09-06T04:00'],
] as const)('at %s the newest %s assessment in %s was due at %s', (now, cadence, zone, at, from, to) => {
  const due = lastDue(parseInstant(now), { cadence: cadence as Cadence }, zone);
  const texts = [due.at, due.from, due.to].map((instant) => formatInstant(instant).slice(0, 16));
  expect(texts).toEqual([at, from, to]);
});

test('a number of days is counted back from the midnight before it, whatever the cadence', () => {
  const { from, to } = lastDue(parseInstant('2026-04-02T12:00:00Z'), { cadence: 'weekly', days: 90 }, 'UTC');
  expect([from, to].map(formatInstant)).toEqual(['2025-12-30T00:00:00.000Z', '2026-03-30T00:00:00.000Z']);
});

test('due instants follow one another without a gap, and so do the periods', () => {
  const zone = fc.constantFrom('UTC', 'Europe/Zurich', 'America/Santiago', 'Asia/Kathmandu', 'Pacific/Apia');
  const instant = fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2035, 0) });
  fc.assert(
    fc.property(instant, fc.constantFrom(...CADENCES), zone, (now, cadence, timeZone) => {
      const last = lastDue(now, { cadence }, timeZone);
      const nextAt = nextDueAt(now, { cadence }, timeZone);
      expect(last.at).toBeLessThanOrEqual(now);
      expect(nextAt).toBeGreaterThan(now);
      const next = lastDue(nextAt, { cadence }, timeZone);
      expect(next.at).toBe(nextAt);
      expect(next.from).toBe(last.to);
      expect(lastDue(nextAt - 1, { cadence }, timeZone)).toEqual(last);
    }),
  );
});
