import { describe, expect, test } from 'vitest';
import { Consent } from './consent.ts';

const INTERVAL = 200;
const half = () => 0.5;

describe('consent', () => {
  test('a path under traffic is asked each 200 ms', () => {
    const consent = active(10);
    expect(checksUntil(consent, 1_000, 10)).toEqual([0, 200, 400, 600, 800, 1_000]);
  });

  test('a path without traffic is asked about each 20 s', () => {
    const consent = new Consent(0, 10, INTERVAL, half);
    expect(checksUntil(consent, 60_000, 10)).toEqual([200, 20_210, 40_220]);
  });

  test('four misses under traffic end a path within 900 ms of the last answer', () => {
    const consent = active(10);
    checksUntil(consent, 1_000, 10);
    expect(lostAt(consent, 1_010)).toBe(1_700);
  });

  test('an idle path is asked again fast before it is given up', () => {
    const consent = new Consent(0, 10, INTERVAL, half);
    checksUntil(consent, 300, 10);
    expect(lostAt(consent, 300)).toBe(20_210 + 500 + 200 + 200 + 100);
  });

  test('a path in doubt is given up within 350 ms, or kept as it was by one answer', () => {
    const consent = new Consent(0, 10, INTERVAL, half);
    checksUntil(consent, 1_000, 10);
    consent.doubt(1_000);
    expect(lostAt(consent, 1_000)).toBe(1_000 + 3 * 75 + 100);
    const kept = new Consent(0, 10, INTERVAL, half);
    checksUntil(kept, 1_000, 10);
    kept.doubt(1_000);
    expect(checksUntil(kept, 60_000, 10)).toEqual([1_000, 21_010, 41_020]);
  });

  test('answers that take longer than the time between checks keep a path', () => {
    const consent = active(700);
    checksUntil(consent, 20_000, 700);
    expect([consent.isLost(20_000), Math.round(consent.roundTripMs)]).toEqual([false, 700]);
  });

  test('an idle path that answers slowly becomes idle again', () => {
    const consent = new Consent(0, 700, INTERVAL, half);
    expect(checksUntil(consent, 60_000, 700).length).toBeLessThan(5);
  });

  test('traffic and doubt have an idle path asked at once', () => {
    const consent = new Consent(0, 10, INTERVAL, half);
    checksUntil(consent, 1_000, 10);
    consent.setTraffic(true, INTERVAL, 5_000);
    expect(consent.isDue(5_000)).toBe(true);
    const doubted = new Consent(0, 10, INTERVAL, half);
    doubted.doubt(50);
    expect(doubted.isDue(50)).toBe(true);
  });
});

function active(roundTripMs: number): Consent {
  const consent = new Consent(0, roundTripMs, INTERVAL, half);
  consent.setTraffic(true, INTERVAL, 0);
  return consent;
}

/** When checks are sent, each of them answered after a round trip. */
function checksUntil(consent: Consent, end: number, roundTripMs: number): number[] {
  const sent: number[] = [];
  const open: number[] = [];
  for (let now = 0; now <= end; now++) {
    while ((open[0] ?? Infinity) + roundTripMs <= now) consent.answered(open.shift() ?? 0, now);
    if (!consent.isDue(now)) continue;
    consent.sent(now);
    sent.push(now);
    open.push(now);
  }
  return sent;
}

/** When the path is given up if nothing is answered any more. */
function lostAt(consent: Consent, from: number): number | undefined {
  for (let now = from; now < from + 60_000; now++) {
    if (consent.isLost(now)) return now;
    if (consent.isDue(now)) consent.sent(now);
  }
  return undefined;
}
