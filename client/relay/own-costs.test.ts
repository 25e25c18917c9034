import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OwnCosts } from './own-costs.ts';

const started = (...names: string[]) => {
  const own = new OwnCosts();
  own.use(new Set(names), 0);
  return own;
};
const said = (own: OwnCosts) => Object.fromEntries(own.costs);

test('what is measured is said, and nothing of what does not answer', () => {
  const own = started('eu', 'us');
  own.measured('eu', 12.4, false, 0);
  own.measured('us', undefined, false, 0);
  expect(said(own)).toEqual({ eu: 12 });
  own.measured('us', 90, false, 1);
  expect(said(own)).toEqual({ eu: 12, us: 90 });
});

test('a relay whose session ended is not said, and costs more until it has worked for a while', () => {
  const own = started('eu');
  own.measured('eu', 12, false, 0);
  own.up('eu', 0);
  expect(said(own)).toEqual({ eu: 12 });
  own.down('eu', 1_000);
  own.measured('eu', 12, true, 1_500);
  expect(said(own)).toEqual({});
  own.up('eu', 2_000);
  expect(said(own)).toEqual({ eu: 20_012 });
  own.tick(6_999);
  expect(said(own)).toEqual({ eu: 20_012 });
  own.tick(7_000);
  expect(said(own)).toEqual({ eu: 12 });
});

test('a relay that fails again and again waits twice as long each time, and is forgiven after ten minutes', () => {
  const own = started('eu');
  own.measured('eu', 12, false, 0);
  const trial = (at: number) => {
    own.down('eu', at);
    own.up('eu', at);
    let end = at;
    for (; own.costs.get('eu') !== 12; end += 1_000) own.tick(end + 1_000);
    return end - at;
  };
  expect([trial(1_000), trial(20_000), trial(60_000)]).toEqual([5_000, 10_000, 20_000]);
  expect(trial(60_000 + 600_000)).toBe(5_000);
});

test('one that is nearer by a little, or by chance, changes nothing that is said', () => {
  const own = started('eu', 'us');
  own.measured('eu', 100, false, 0);
  const { costs } = own;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 71, max: 129 })), (trips) => {
      for (const trip of trips) own.measured('eu', trip, true, 1);
      expect(own.costs).toBe(costs);
    }),
  );
  for (const trip of [20, 25, 30]) own.measured('eu', trip, true, 2);
  expect(said(own)).toEqual({ eu: 20 });
});

test('however often a session comes and goes, what is said returns at most once in each trial', () => {
  const event = fc.record({ wait: fc.integer({ min: 1, max: 30_000 }), isUp: fc.boolean() });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const own = started('eu');
      own.measured('eu', 12, false, 0);
      own.up('eu', 0);
      let now = 0;
      let returns = 0;
      let wasFull = true;
      for (const { wait, isUp } of events) {
        for (const end = now + wait; now < end; now = Math.min(end, now + 500)) {
          own.tick(now);
          const isFull = own.costs.get('eu') === 12;
          if (isFull && !wasFull) returns += 1;
          wasFull = isFull;
        }
        if (isUp) own.up('eu', now);
        else own.down('eu', now);
        wasFull &&= own.costs.get('eu') === 12;
      }
      // 5, 10, 20, … seconds: the sum of the trials fits into the time.
      expect(5_000 * (2 ** Math.min(returns, 6) - 1)).toBeLessThanOrEqual(now + 5_000);
    }),
  );
});

test('relays that the graph no longer names are forgotten', () => {
  const own = started('eu', 'us');
  own.measured('us', 5, false, 0);
  own.use(new Set(['eu']), 1);
  expect([said(own), own.roundTripOf('us')]).toEqual([{}, undefined]);
});
