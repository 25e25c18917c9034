import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { recognise } from './lexicon.ts';
import { Refusal } from './refusal.ts';
import { timeAt } from './times.ts';
import { tokenise } from './tokens.ts';

/** A Monday. */
const NOW = Date.UTC(2026, 0, 5, 12);

const read = (text: string) => {
  const tokens = recognise(tokenise(text));
  const named = timeAt(tokens, 0, NOW);
  return named && [formatInstant(named.until).replace(/:00\.000Z$/, ''), tokens.length - named.end];
};

describe('a time in a sentence', () => {
  it.each([
    ['for 2 hours', '2026-01-05T14:00'],
    ['for the next 30 minutes', '2026-01-05T12:30'],
    ['for an hour and a half', '2026-01-05T13:30'],
    ['for 1 hour and 30 minutes', '2026-01-05T13:30'],
    ['for half an hour', '2026-01-05T12:30'],
    ['for 1h30m', '2026-01-05T13:30'],
    ['for 2h', '2026-01-05T14:00'],
    ['for 1.5 hours', '2026-01-05T13:30'],
    ['for the next hour', '2026-01-05T13:00'],
    ['for twelve days', '2026-01-17T12:00'],
    ['for a week', '2026-01-12T12:00'],
    ['for today', '2026-01-06T00:00'],
    ['until 18:00', '2026-01-05T18:00'],
    ['until 6pm', '2026-01-05T18:00'],
    ['till 6:30 pm utc', '2026-01-05T18:30'],
    ['until 08:00', '2026-01-06T08:00'],
    ['until noon', '2026-01-06T12:00'],
    ['until midnight', '2026-01-06T00:00'],
    ['until tomorrow', '2026-01-06T00:00'],
    ['until tomorrow at 9am', '2026-01-06T09:00'],
    ['until friday', '2026-01-09T00:00'],
    ['until friday 18:00', '2026-01-09T18:00'],
    ['until fri 18:00', '2026-01-09T18:00'],
    ['until friday, 18:00 utc', '2026-01-09T18:00'],
    ['until this friday at 6 pm', '2026-01-09T18:00'],
    ['until friday at 18', '2026-01-09T18:00'],
    ['until friday 18h', '2026-01-09T18:00'],
    ['until friday 18.30', '2026-01-09T18:30'],
    ['until 18:00 on friday', '2026-01-09T18:00'],
    ['until 6pm tomorrow', '2026-01-06T18:00'],
    ['until next monday', '2026-01-12T00:00'],
    ['until monday 11:00', '2026-01-12T11:00'],
    ['until the end of friday', '2026-01-10T00:00'],
    ['until the end of the month', '2026-02-01T00:00'],
    ['until the end of the year', '2027-01-01T00:00'],
    ['until 9 january', '2026-01-09T00:00'],
    ['until january 9th 18:00', '2026-01-09T18:00'],
    ['until jan 4', '2027-01-04T00:00'],
    ['until 4 march 2028 at noon', '2028-03-04T12:00'],
    ['expiring friday 18:00', '2026-01-09T18:00'],
    ['up to friday 18:00', '2026-01-09T18:00'],
    ['until monday', '2026-01-12T00:00'],
    ['until the end of the day', '2026-01-06T00:00'],
    ['until 2026-02-01', '2026-02-01T00:00'],
    ['until 2026-02-01T10:30:00Z', '2026-02-01T10:30'],
    ['expiring in 2 hours', '2026-01-05T14:00'],
  ])('"%s" ends at %s', (text, until) => {
    expect(read(text)).toEqual([until, 0]);
  });

  it.each(['for web', 'for 5 users', 'for the web servers', 'db for 2 hours'])(
    '"%s" does not begin with one',
    (text) => {
      expect(read(text)).toBeUndefined();
    },
  );

  it.each([
    'until later',
    'until 25:00',
    'until 13pm',
    'until 18',
    'until 2001-01-01',
    'until 2026-99-01',
    'until 31 february',
    'until',
    'for 0 hours',
    'until 11:00 today',
  ])('"%s" is asked about', (text) => {
    expect(() => read(text)).toThrow(/is no time|not clear until when/);
  });

  it.each([
    ['until next friday 18:00', ['2026-01-09T18:00', '2026-01-16T18:00']],
    ['until monday 18:00', ['2026-01-05T18:00', '2026-01-12T18:00']],
    ['until friday midnight', ['2026-01-09T00:00', '2026-01-10T00:00']],
    ['until the end of the week', ['2026-01-10T00:00', '2026-01-12T00:00']],
    ['until friday 18:00 cet', ['2026-01-09T17:00']],
    ['until 6 pm est', ['2026-01-05T23:00']],
    ['until friday 18:00 +02:00', ['2026-01-09T16:00']],
    ['until friday 18:00 cst', ['2026-01-10T00:00', '2026-01-09T10:00']],
    ['until friday 18:00 local time', []],
  ])('"%s" is asked about, with each instant that it may be', (text, instants) => {
    const offers = thrownBy(() => read(text)).offers;
    expect(offers.by).toEqual(instants.map((one) => `${one}:00.000Z`));
    // What is replaced is all that says when, so that nothing of it is left to be read as something else.
    expect(offers.replace?.map((word) => word.text).join(' ')).toBe(text.replace(/^until /, ''));
  });
});

function thrownBy(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
