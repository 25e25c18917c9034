import { expect, test } from 'vitest';
import { isMomentInWords, momentOfWords } from './moment-text.ts';
import { formatInstant, parseInstant } from './time.ts';

/** 01:30 on the 6th in Zurich, still the 5th in UTC. */
const NOW = parseInstant('2026-01-06T00:30:00Z');
const EVENING = parseInstant('2026-01-05T23:30:00Z');

test.each([
  ['yesterday', 'begin', 'UTC', NOW, '2026-01-05T00:00:00.000Z'],
  ['yesterday', 'end', 'UTC', NOW, '2026-01-06T00:00:00.000Z'],
  ['yesterday', 'begin', 'Europe/Zurich', EVENING, '2026-01-04T23:00:00.000Z'],
  ['yesterday', 'begin', 'UTC', EVENING, '2026-01-04T00:00:00.000Z'],
  ['yesterday', 'end', 'Europe/Zurich', EVENING, '2026-01-05T23:00:00.000Z'],
  ['today', 'begin', 'Europe/Zurich', EVENING, '2026-01-05T23:00:00.000Z'],
  ['today', 'end', 'UTC', NOW, '2026-01-06T00:30:00.000Z'],
  ['2026-01-02', 'begin', 'America/New_York', NOW, '2026-01-02T05:00:00.000Z'],
  ['2026-01-02', 'end', 'America/New_York', NOW, '2026-01-03T05:00:00.000Z'],
  ['2026-03-29', 'end', 'Europe/Zurich', parseInstant('2026-06-01T00:00:00Z'), '2026-03-29T22:00:00.000Z'],
  ['2h', 'begin', 'UTC', NOW, '2026-01-05T22:30:00.000Z'],
  ['1h30m ago', 'end', 'Europe/Zurich', NOW, '2026-01-05T23:00:00.000Z'],
] as const)('%s as a %s by the clocks of %s is an instant', (text, edge, timeZone, now, expected) => {
  expect(isMomentInWords(text)).toBe(true);
  const at = momentOfWords(text, { now, timeZone, edge });
  expect(at !== undefined && formatInstant(at)).toBe(expected);
});

test.each(['2026-02-30', '2026-13-01', 'the other day', '', '0s', '9999999d'])('%j is no moment', (text) => {
  expect(momentOfWords(text, { now: NOW, timeZone: 'UTC', edge: 'begin' })).toBeUndefined();
});
