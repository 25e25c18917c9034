import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../core/base/time.ts';
import { Refusal } from './refusal.ts';
import { timeAt } from './times.ts';
import { tokenize } from './tokens.ts';

/** A Monday. */
const NOW = Date.UTC(2026, 0, 5, 12);

const read = (text: string, timeZone = 'UTC', now = NOW) => {
  const words = tokenize(text);
  const named = timeAt(words, 0, { now, timeZone, isName: (word) => word === 'paris' });
  return named && [formatInstant(named.until).replace(/:00\.000Z$/, ''), words.length - named.end];
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
    ['until friday 18:00 cst', ['2026-01-10T00:00', '2026-01-09T10:00']],
    ['until friday 18:00 local time', ['2026-01-09T18:00']],
    ['until friday 18:00 bst', ['2026-01-09T17:00', '2026-01-09T18:00']],
    ['until friday midnight utc', ['2026-01-09T00:00', '2026-01-10T00:00']],
    ['until friday 18:00 gotham time', ['2026-01-09T18:00']],
  ])('"%s" is asked about, with each instant that it may be', (text, instants) => {
    expect(instantsIn(thrownBy(() => read(text)))).toEqual(instants.map((one) => `${one}:00.000Z`));
  });
});

/** Returns the instants that a refusal asks about. */
function instantsIn({ questions }: Refusal): string[] {
  return questions.flatMap((question) => question.match(/\d{4}-\d\d-\d\dT[\d:.]+Z/g) ?? []);
}

function thrownBy(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

/** The clocks of Zurich go forward on 2026-03-29 at 02:00 and back on 2026-10-25 at 03:00. */
describe('a time by the clocks of a zone', () => {
  const ZURICH = 'Europe/Zurich';
  const SUMMER = Date.UTC(2026, 6, 6, 12);

  it.each([
    ['until 18:00', '2026-01-05T17:00'],
    ['until 12:30', '2026-01-06T11:30'],
    ['until friday at 18:00', '2026-01-09T17:00'],
    ['until tomorrow', '2026-01-05T23:00'],
    ['until the end of the month', '2026-01-31T23:00'],
    ['until 2026-02-01', '2026-01-31T23:00'],
    ['until 2026-02-01T10:30', '2026-02-01T09:30'],
    ['until 2026-07-01T10:30', '2026-07-01T08:30'],
    ['until 2026-02-01T10:30:00Z', '2026-02-01T10:30'],
    ['until 2026-02-01T10:30+05:00', '2026-02-01T05:30'],
    ['until 1 july', '2026-06-30T22:00'],
    ['for today', '2026-01-05T23:00'],
    ['for 2 hours', '2026-01-05T14:00'],
    // Days are as long as they are: three months on the clocks have moved.
    ['until 30 march 18:00', '2026-03-30T16:00'],
  ])('of the workspace: "%s" ends at %s', (text, until) => {
    expect(read(text, ZURICH)).toEqual([until, 0]);
  });

  it.each([
    ['until 18:00 utc', '2026-01-05T18:00'],
    ['until 18:00z', '2026-01-05T18:00'],
    ['until 18:00 gmt', '2026-01-05T18:00'],
    ['until 18:00 utc on friday', '2026-01-09T18:00'],
    ['until friday utc', '2026-01-09T00:00'],
    ['until 18:00 zurich time', '2026-01-05T17:00'],
    ['until 18:00 in zurich', '2026-01-05T17:00'],
    ['until 18:00 zurich time on friday', '2026-01-09T17:00'],
    ['until friday 18:00 new york time', '2026-01-09T23:00'],
    ['until friday 6pm America/New_York', '2026-01-09T23:00'],
    ['until 18:00 kolkata time', '2026-01-05T12:30'],
    ['until 18:00 buenos aires time', '2026-01-05T21:00'],
    ['until friday 18:00 cet', '2026-01-09T17:00'],
    ['until 6 pm est', '2026-01-05T23:00'],
    ['until friday 18:00 +02:00', '2026-01-09T16:00'],
    ['until friday 18:00 utc+5:30', '2026-01-09T12:30'],
    ['until noon tokyo time', '2026-01-06T03:00'],
    // "Paris" is somebody here: only "time" makes a city of it.
    ['until 18:00 paris time', '2026-01-05T17:00'],
  ])('that is named, whatever the workspace has: "%s" ends at %s', (text, until) => {
    for (const zone of ['UTC', ZURICH, 'America/Los_Angeles']) expect(read(text, zone)).toEqual([until, 0]);
  });

  it('is not of a city where the word means somebody', () => {
    expect(read('until 18:00 in paris')).toEqual(['2026-01-05T18:00', 2]);
  });

  it('has its own days: it is friday there before it is here', () => {
    const thursday = Date.UTC(2026, 0, 8, 23, 30);
    expect(read('until tomorrow 08:00', ZURICH, thursday)).toEqual(['2026-01-10T07:00', 0]);
    expect(read('until tomorrow 08:00', 'UTC', thursday)).toEqual(['2026-01-09T08:00', 0]);
    expect(read('until tomorrow 08:00 zurich time', 'UTC', thursday)).toEqual(['2026-01-10T07:00', 0]);
    expect(read('until 00:45', ZURICH, thursday)).toEqual(['2026-01-08T23:45', 0]);
  });

  it.each([
    // In summer "CET" is an offset that nobody's clocks have, or what those clocks show.
    ['until friday 18:00 cet', SUMMER, ['2026-07-10T17:00', '2026-07-10T16:00']],
    ['until friday 18:00 est', SUMMER, ['2026-07-10T23:00', '2026-07-10T22:00']],
    ['until 25 october 02:30', NOW, ['2026-10-25T00:30', '2026-10-25T01:30']],
    ['until 29 march 02:30', NOW, ['2026-03-29T01:30']],
    ['until friday 18:00 local time', NOW, ['2026-01-09T17:00', '2026-01-09T18:00']],
    ['until 18:00 gotham time', NOW, ['2026-01-05T17:00', '2026-01-05T18:00']],
    ['until 2026-02-01t10:30:00z cet', NOW, ['2026-02-01T10:30']],
  ])('is asked about where it may be another: "%s"', (text, now, instants) => {
    expect(instantsIn(thrownBy(() => read(text, ZURICH, now)))).toEqual(instants.map((one) => `${one}:00.000Z`));
  });

  it('is read where all but one of the moments that it may be have passed', () => {
    expect(read('until 02:30', ZURICH, Date.UTC(2026, 9, 25, 0, 45))).toEqual(['2026-10-25T01:30', 0]);
  });

  it('begins a day where the clocks skip midnight', () => {
    expect(read('until 6 september', 'America/Santiago')).toEqual(['2026-09-06T04:00', 0]);
  });
});
