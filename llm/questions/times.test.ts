import { describe, expect, test } from 'vitest';
import { read, shown } from './questions.testkit.ts';
import { questionReader } from './reader.ts';

describe('when', () => {
  const at = (text: string) => Date.parse(text);
  test.each([
    ['last Tuesday at 3', '2026-01-06T03:00Z', '2026-01-06T03:00Z'],
    ['last Wednesday at 15:30', '2025-12-31T15:30Z', '2025-12-31T15:30Z'],
    ['on Wednesday at 11am', '2026-01-07T11:00Z', '2026-01-07T11:00Z'],
    ['yesterday evening', '2026-01-06T18:00Z', '2026-01-07T00:00Z'],
    ['last night', '2026-01-06T22:00Z', '2026-01-07T06:00Z'],
    ['this morning', '2026-01-07T06:00Z', '2026-01-07T12:00Z'],
    ['today', '2026-01-07T00:00Z', '2026-01-07T12:00Z'],
    ['an hour ago', '2026-01-07T11:00Z', '2026-01-07T11:00Z'],
    ['two days ago at noon', '2026-01-05T12:00Z', '2026-01-05T12:00Z'],
    ['half an hour ago', '2026-01-07T11:30Z', '2026-01-07T11:30Z'],
    ['in the last 2 hours', '2026-01-07T10:00Z', '2026-01-07T12:00Z'],
    ['over the past week', '2025-12-31T12:00Z', '2026-01-07T12:00Z'],
    ['last week', '2025-12-29T00:00Z', '2026-01-05T00:00Z'],
    ['last month', '2025-12-01T00:00Z', '2026-01-01T00:00Z'],
    ['on 2026-01-03', '2026-01-03T00:00Z', '2026-01-04T00:00Z'],
    ['on the 5th', '2026-01-05T00:00Z', '2026-01-06T00:00Z'],
    ['on 24 December', '2025-12-24T00:00Z', '2025-12-25T00:00Z'],
    ['on December 24th 2025 at 6pm', '2025-12-24T18:00Z', '2025-12-24T18:00Z'],
    ['at 3pm yesterday', '2026-01-06T15:00Z', '2026-01-06T15:00Z'],
    ['yesterday at 3pm UTC', '2026-01-06T15:00Z', '2026-01-06T15:00Z'],
    ['yesterday at 15:00 CET', '2026-01-06T14:00Z', '2026-01-06T14:00Z'],
    ["at 3 o'clock", '2026-01-07T03:00Z', '2026-01-07T03:00Z'],
    ['at 15:00', '2026-01-06T15:00Z', '2026-01-06T15:00Z'],
    ['the day before yesterday', '2026-01-05T00:00Z', '2026-01-06T00:00Z'],
    ['since last Tuesday at 3', '2026-01-06T03:00Z', undefined],
    ['since 9 this week', undefined, undefined],
    ['until an hour ago', undefined, '2026-01-07T11:00Z'],
    ['before yesterday', undefined, '2026-01-06T00:00Z'],
    ['between Monday and Tuesday', '2026-01-05T00:00Z', '2026-01-07T00:00Z'],
    ['from Monday at 10:00 until yesterday at 4pm', '2026-01-05T10:00Z', '2026-01-06T16:00Z'],
    ['between 6 and 7 pm yesterday', '2026-01-06T18:00Z', '2026-01-06T19:00Z'],
    ['between 6:40 and 7 pm yesterday', '2026-01-06T18:40Z', '2026-01-06T19:00Z'],
    ['between 6:40pm and 7:15pm yesterday', '2026-01-06T18:40Z', '2026-01-06T19:15Z'],
    ['between 11 and 1 pm yesterday', '2026-01-06T11:00Z', '2026-01-06T13:00Z'],
    ['between 11 am and 1 pm yesterday', '2026-01-06T11:00Z', '2026-01-06T13:00Z'],
    ['yesterday between 18:48 and 18:50', '2026-01-06T18:48Z', '2026-01-06T18:50Z'],
    ['between yesterday 18:48 and 18:50', '2026-01-06T18:48Z', '2026-01-06T18:50Z'],
    ['between 18:48:10 and 18:48:30 yesterday', '2026-01-06T18:48:10Z', '2026-01-06T18:48:30Z'],
    ['between 9 and 10 this morning', '2026-01-07T09:00Z', '2026-01-07T10:00Z'],
    ['this morning from 9 to 10', '2026-01-07T09:00Z', '2026-01-07T10:00Z'],
    ['yesterday evening between 6 and 7', '2026-01-06T18:00Z', '2026-01-06T19:00Z'],
    ['on Monday from 6 to 7 pm', '2026-01-05T18:00Z', '2026-01-05T19:00Z'],
    ['between 6 and 7 pm', '2026-01-06T18:00Z', '2026-01-06T19:00Z'],
    ['between 11:30 and 13:00', '2026-01-07T11:30Z', '2026-01-07T12:00Z'],
    ['between 11 pm and 1 am last night', '2026-01-06T23:00Z', '2026-01-07T01:00Z'],
    ['between 1 and 2 last night', '2026-01-07T01:00Z', '2026-01-07T02:00Z'],
    ['between 9 and 10 am CET', '2026-01-07T08:00Z', '2026-01-07T09:00Z'],
    ['between 18:00 on Monday and 9:00 on Tuesday', '2026-01-05T18:00Z', '2026-01-06T09:00Z'],
    ['yesterday evening at 6', '2026-01-06T18:00Z', '2026-01-06T18:00Z'],
    ['at 6 yesterday evening', '2026-01-06T18:00Z', '2026-01-06T18:00Z'],
    ['at 1 last night', '2026-01-07T01:00Z', '2026-01-07T01:00Z'],
    ['in the hour before 10:00', '2026-01-07T09:00Z', '2026-01-07T10:00Z'],
    ['5 minutes after 9:10', '2026-01-07T09:10Z', '2026-01-07T09:15Z'],
    ['within five minutes of 9:10', '2026-01-07T09:05Z', '2026-01-07T09:15Z'],
    ['between 9:10 and now', '2026-01-07T09:10Z', '2026-01-07T12:00Z'],
    ['today 09:10 – 10:30', '2026-01-07T09:10Z', '2026-01-07T10:30Z'],
    ['from 9:10 through 10:30', '2026-01-07T09:10Z', '2026-01-07T10:30Z'],
    ['since Monday, up to yesterday', '2026-01-05T00:00Z', '2026-01-07T00:00Z'],
    ['at 2026-01-05T12:00:00Z', '2026-01-05T12:00Z', '2026-01-05T12:00Z'],
    ['on 2026-01-05 at 12:00', '2026-01-05T12:00Z', '2026-01-05T12:00Z'],
  ])('%s', (words, from, to) => {
    const question = `why could web-1 not reach db-1 on 443 ${words}?`;
    if (from === undefined && to === undefined) {
      expect(() => read(question)).toThrow(/Several times/);
      return;
    }
    const { time, asked } = read(question);
    expect([time?.from, time?.to, shown(asked)]).toEqual([from && at(from), to && at(to), 'web-1 > db-1 on TCP 443']);
  });

  test('clocks are those of the workspace, also across the change to summer time, and the answer says how it was read', () => {
    const question = 'why could web-1 not reach db-1 last Tuesday at 3?';
    const { time } = read(question, 'Europe/Berlin');
    expect(time).toEqual({
      said: '"last tuesday at 3" is Tuesday 2026-01-06 03:00 (Europe/Berlin)',
      from: at('2026-01-06T02:00Z'),
      to: at('2026-01-06T02:00Z'),
    });
    const spring = Date.UTC(2026, 2, 29, 12);
    const day = questionReader.read('what changed today?', spring, 'Europe/Berlin').time;
    expect([day?.from, day?.to]).toEqual([at('2026-03-28T23:00Z'), spring]);
    const skipped = questionReader.read('what changed since today at 2:30?', spring, 'Europe/Berlin').time;
    expect(skipped?.from).toBe(at('2026-03-29T01:30Z'));
  });

  test.each([
    ['between 18:48 and 18:50 this morning', /not in the morning/],
    ['at 09:10 yesterday evening', /not in the evening/],
    ['between 18:00 and 17:00 yesterday', /ends before it begins/],
    ['between 10 and 9 am', /ends before it begins/],
    ['at 0910', /not known when "0910"/],
    ['since tomorrow', /lies in the future/],
    ['at 2030-01-01', /lies in the future/],
    ['since the audit', /not known when "the audit" was/],
    ['after the upgrade', /not known when "the upgrade" was/],
    ['between Monday and the audit', /not known when "the audit" was/],
    ['from yesterday to Monday', /ends before it begins/],
  ])('asked back: %s', (words, message) => {
    expect(() => read(`why could web-1 not reach db-1 ${words}?`)).toThrow(message);
  });
});
