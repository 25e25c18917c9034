import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RemoteClock } from './remote-clock.ts';

const NOON = Date.UTC(2026, 10, 26, 12);

/** Another host, whose clock is `offset` ahead of this one's monotonic clock. */
function hosts(offset = NOON) {
  const time = { here: 1_000, offset };
  const clock = new RemoteClock(() => time.here);
  const ask = (there: number, back: number) =>
    clock.hear(async () => {
      time.here += there;
      const shown = Math.floor(time.here + time.offset);
      time.here += back;
      return shown;
    });
  return { time, clock, ask, errorOf: () => Math.abs(clock.now() - time.here - time.offset) };
}

test('it is off by half of the time that the quickest answer took', async () => {
  const { time, ask, errorOf } = hosts();
  await ask(80, 0);
  expect(errorOf()).toBeLessThanOrEqual(41);
  await ask(1, 3);
  expect(errorOf()).toBeLessThanOrEqual(3);
  await ask(0, 900);
  expect(errorOf()).toBeLessThanOrEqual(4);
  time.here += 2_000;
  expect(errorOf()).toBeLessThanOrEqual(4);
});

test('one that is set is followed from the next answer on', async () => {
  const { time, ask, errorOf } = hosts();
  await ask(1, 1);
  time.offset -= 5_000;
  await ask(2, 2);
  expect(errorOf()).toBeLessThanOrEqual(3);
});

test('whatever answers take, it is off by no more than half of the last one', () => {
  const takes = fc.array(fc.tuple(fc.nat(500), fc.nat(500), fc.nat(3_000)), { minLength: 1, maxLength: 20 });
  return fc.assert(
    fc.asyncProperty(takes, async (answers) => {
      const { time, ask, errorOf } = hosts();
      for (const [there, back, pause] of answers) {
        time.here += pause;
        await ask(there, back);
        expect(errorOf()).toBeLessThanOrEqual((there + back + 1) / 2 + 1e-3);
      }
    }),
  );
});
