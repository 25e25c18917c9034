import { beforeEach, describe, expect, it } from 'vitest';
import { Standstill } from './standstill.ts';

const SENT_AGAIN = { code: 'unavailable', details: { retryAfterSeconds: 1 } };
let at = { monotonic: 0, wall: 0 };
let standstill: Standstill;
let isDrained: PromiseWithResolvers<void>;
const { signal } = new AbortController();

/** Turns on time for so long. */
function turns(ms: number): void {
  for (let passed = 0; passed < ms; passed += 500) {
    at = { monotonic: at.monotonic + 500, wall: at.wall + 500 };
    standstill.turn();
  }
}

beforeEach(() => {
  at = { monotonic: 1_000, wall: 1_700_000_000_000 };
  isDrained = Promise.withResolvers();
  standstill = new Standstill({ monotonic: () => at.monotonic, wall: () => at.wall }, () => isDrained.promise);
});

describe('a call', () => {
  it('writes where the process turned all the time, however long the call takes', () => {
    const requireTimely = standstill.begin(signal);
    turns(60_000);
    expect(requireTimely).not.toThrow();
  });

  it.each([
    ['was stopped', { monotonic: 5_001, wall: 5_001 }],
    ['was on a machine that was paused', { monotonic: 10, wall: 30_000 }],
  ])('writes nothing that was read before all that had waited since the process %s', async (_, stood) => {
    turns(1_000);
    at = { monotonic: at.monotonic + stood.monotonic, wall: at.wall + stood.wall };
    expect(standstill.begin(signal)).toThrow(expect.objectContaining(SENT_AGAIN));
    turns(60_000);
    expect(standstill.begin(signal)).toThrow(expect.objectContaining(SENT_AGAIN));
    const readAt = at.monotonic;
    isDrained.resolve();
    await isDrained.promise;
    turns(500);
    expect(standstill.begin(signal)).not.toThrow();
    expect(standstill.begin(signal, readAt)).toThrow(expect.objectContaining(SENT_AGAIN));
  });

  it('writes nothing before the second of two standstills has been followed too', async () => {
    at = { ...at, monotonic: at.monotonic + 6_000 };
    standstill.turn();
    const first = isDrained;
    isDrained = Promise.withResolvers();
    at = { ...at, monotonic: at.monotonic + 6_000 };
    standstill.turn();
    first.resolve();
    await first.promise;
    turns(500);
    expect(standstill.begin(signal)).toThrow(expect.objectContaining(SENT_AGAIN));
  });

  it('writes nothing after a standstill in the middle of it', () => {
    const requireTimely = standstill.begin(signal);
    at = { monotonic: at.monotonic + 6_000, wall: at.wall + 6_000 };
    expect(requireTimely).toThrow(expect.objectContaining(SENT_AGAIN));
    turns(60_000);
    expect(requireTimely).toThrow(expect.objectContaining(SENT_AGAIN));
  });

  it('writes after the process was busy for five seconds', () => {
    turns(1_000);
    at = { monotonic: at.monotonic + 5_000, wall: at.wall + 5_000 };
    expect(standstill.begin(signal)).not.toThrow();
  });

  it('writes nothing once its caller has gone', () => {
    const caller = new AbortController();
    const requireTimely = standstill.begin(caller.signal);
    expect(requireTimely).not.toThrow();
    caller.abort();
    expect(requireTimely).toThrow('The caller has gone.');
  });
});
