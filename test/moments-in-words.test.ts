import { expect, test } from 'vitest';
import { z } from 'zod';
import { formatInstant } from '../core/base/time.ts';
import { withInstants } from '../core/call/moments.ts';
import { questionReader } from '../llm/questions/reader.ts';
import { operations } from '../tools/index.ts';

const clocks = { now: Date.UTC(2026, 0, 5, 23, 30), timeZone: 'Europe/Zurich' };
const DAY = { begin: '2026-01-04T23:00:00.000Z', end: '2026-01-05T23:00:00.000Z' };

test('every operation that takes a moment of the past takes yesterday, as the day in the zone of the workspace', async () => {
  const names = [
    'at',
    'from',
    'to',
    'since',
    'period_start',
    'period_end',
    'offline_since',
    'joined_since',
    'key_before',
  ];
  const taken: string[] = [];
  for (const { name, input } of operations) {
    for (const field of names.filter((one) => isText(input.shape[one]))) {
      const read = await withInstants(input, { [field]: 'yesterday' }, async () => clocks);
      const expected = field === 'to' || field === 'period_end' ? DAY.end : DAY.begin;
      expect([name, field, read[field]]).toEqual([name, field, expected]);
      taken.push(`${name} ${field}`);
    }
  }
  expect(taken.length).toBeGreaterThan(20);
});

/** Beside moments, `from` is the size of a log. */
function isText(schema: unknown): boolean {
  return schema instanceof z.ZodType && z.toJSONSchema(schema, { io: 'input' }).type === 'string';
}

test('yesterday in a question in words is the same day', () => {
  const { time } = questionReader.read('what changed yesterday?', clocks.now, clocks.timeZone);
  expect([time?.from, time?.to].map((at) => formatInstant(at ?? 0))).toEqual([DAY.begin, DAY.end]);
});
