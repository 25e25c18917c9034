import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ClockStep, GuardedClock } from './guarded-clock.ts';

const NOON = Date.UTC(2026, 10, 25, 12);
const MINUTE = 60_000;

function host(wall = NOON) {
  const time = { wall, monotonic: 500 };
  return {
    sources: { wall: () => time.wall, monotonic: () => time.monotonic },
    pass(ms: number) {
      time.wall += ms;
      time.monotonic += ms;
    },
    set(ms: number) {
      time.wall += ms;
    },
    wall: () => time.wall,
  };
}

function guarded(from = 0) {
  const steps: ClockStep[] = [];
  const { sources, ...machine } = host();
  const clock = new GuardedClock(sources);
  clock.onStep = (step) => steps.push(step);
  clock.startFrom(from);
  return { ...machine, steps, clock };
}

test('a clock that nobody sets is the clock of the host', () => {
  const { clock, pass, wall, steps } = guarded();
  for (const ms of [0, 1, 999, 3_600_000]) {
    pass(ms);
    expect(clock.now()).toBe(wall());
  }
  expect({ steps, ahead: clock.aheadMs }).toEqual({ steps: [], ahead: 0 });
});

test('set back by 20 minutes it goes on from where it was, at half speed, until the host has caught up', () => {
  const { clock, pass, set, wall, steps } = guarded();
  set(-20 * MINUTE);
  expect(clock.now()).toBe(NOON);
  pass(10 * MINUTE);
  expect(clock.now()).toBe(NOON + 5 * MINUTE);
  pass(30 * MINUTE);
  expect([clock.now(), clock.aheadMs]).toEqual([wall(), 0]);
  pass(MINUTE);
  expect(clock.now()).toBe(wall());
  expect(steps).toEqual([{ direction: 'back', ms: 20 * MINUTE, aheadMs: 20 * MINUTE }]);
});

test('set forward, or after a sleep, it follows at once and tells of one step', () => {
  const { clock, pass, set, wall, steps } = guarded();
  pass(MINUTE);
  set(20 * MINUTE);
  expect(clock.now()).toBe(wall());
  pass(MINUTE);
  expect(clock.now()).toBe(wall());
  expect(steps).toEqual([{ direction: 'forward', ms: 20 * MINUTE, aheadMs: 0 }]);
  expect(clock.steps).toEqual({ forward: 1, back: 0 });
});

test('started on a host that was set back meanwhile, it goes on from what it showed last, and tells', () => {
  const { clock, steps } = guarded(NOON + 20 * MINUTE);
  expect(clock.now()).toBe(NOON + 20 * MINUTE);
  expect(steps).toEqual([{ direction: 'back', ms: 20 * MINUTE, aheadMs: 20 * MINUTE }]);
});

test('a host whose clock is steered gently tells of no step', () => {
  const { clock, pass, set, steps } = guarded();
  for (let second = 0; second < 1_000; second++) {
    pass(1_000);
    set(second % 2 === 0 ? -30 : 20);
    clock.now();
  }
  expect(steps).toEqual([]);
});

const event = fc.oneof(
  fc.record({ pass: fc.integer({ min: 0, max: 100 * MINUTE }) }),
  fc.record({ set: fc.integer({ min: -100 * MINUTE, max: 100 * MINUTE }) }),
);

test('whatever happens to the clock of the host, it never goes back, and is never behind the host', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const { clock, pass, set, wall } = guarded();
      let last = clock.now();
      for (const one of events) {
        if ('pass' in one) pass(one.pass);
        else set(one.set);
        const now = clock.now();
        if (now < last || now < wall()) return false;
        last = now;
      }
      return true;
    }),
  );
});

test('once nobody sets it any more, it shows the clock of the host after twice what that was behind', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      const { clock, pass, set, wall } = guarded();
      for (const one of events) {
        if ('pass' in one) pass(one.pass);
        else set(one.set);
        clock.now();
      }
      const behind = clock.aheadMs;
      pass(2 * behind + 2);
      return clock.now() === wall();
    }),
  );
});

test('every expiry that was reached stays reached, also over a start', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 40 }), fc.nat(), (events, cut) => {
      const machine = host();
      let clock = new GuardedClock(machine.sources);
      let expiredAt = 0;
      for (const [index, one] of events.entries()) {
        if ('pass' in one) machine.pass(one.pass);
        else machine.set(one.set);
        if (index === cut % events.length) {
          clock = new GuardedClock(machine.sources);
          clock.startFrom(expiredAt);
        }
        if (clock.now() < expiredAt) return false;
        expiredAt = clock.now();
      }
      return true;
    }),
  );
});
