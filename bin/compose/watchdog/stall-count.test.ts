import { describe, expect, it } from 'vitest';
import { type LoopSample, StallCount, type StallVerdict, TICK_MS } from './stall-count.ts';

const SECOND = 1_000 / TICK_MS;

/** Ticks on time while the thread stands still, after one at which it turned. */
function standStill(
  count: StallCount,
  ticks: number,
  phase: LoopSample['phase'] = 'serving',
  from = 0,
): StallVerdict[] {
  return Array.from({ length: ticks + 1 }, (_, tick) => count.tick({ at: from + tick * TICK_MS, turns: 7, phase }));
}

describe('the count of a stall', () => {
  it('reports a stall once, after five seconds without a turn', () => {
    const found = standStill(new StallCount({ isSupervised: false }), 60 * SECOND);
    expect(found.indexOf('stalled')).toBe(5 * SECOND);
    expect(found.filter((one) => one === 'stalled')).toHaveLength(1);
    expect(found).not.toContain('hopeless');
  });

  it('gives a supervised process up after twenty seconds', () => {
    const found = standStill(new StallCount({ isSupervised: true }), 30 * SECOND);
    expect(found.indexOf('hopeless')).toBe(20 * SECOND);
  });

  it('gives a process up five seconds into a stop that does not turn, with or without a supervisor', () => {
    const found = standStill(new StallCount({ isSupervised: false }), 30 * SECOND, 'stopping');
    expect(found.indexOf('hopeless')).toBe(5 * SECOND);
  });

  it('never counts while the process starts', () => {
    const found = standStill(new StallCount({ isSupervised: true }), 60 * SECOND, 'starting');
    expect(found).not.toContain('stalled');
    expect(found).not.toContain('hopeless');
  });

  it('starts again after a turn', () => {
    const count = new StallCount({ isSupervised: true });
    standStill(count, 19 * SECOND);
    count.tick({ at: 19 * SECOND * TICK_MS + TICK_MS, turns: 8, phase: 'serving' });
    const found = Array.from({ length: 19 * SECOND }, (_, tick) =>
      count.tick({ at: (19 * SECOND + 2 + tick) * TICK_MS, turns: 8, phase: 'serving' }),
    );
    expect(found).not.toContain('hopeless');
    expect(found).toContain('stalled');
  });

  it('gives nobody up whose machine was suspended: a late tick of its own restarts the count', () => {
    const count = new StallCount({ isSupervised: true });
    standStill(count, 19 * SECOND);
    const resumed = 3_600_000;
    const found = standStill(count, 19 * SECOND, 'serving', resumed);
    expect(found).not.toContain('hopeless');
  });
});
