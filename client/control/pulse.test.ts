import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pulse } from './pulse.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A pulse with a rest of 30 s, and when it beat; each beat takes `beatMs`. */
function beating(beatMs = 0) {
  const start = Date.now();
  const beats: number[] = [];
  const beat = async () => {
    beats.push(Date.now() - start);
    if (beatMs > 0) await new Promise((resolve) => setTimeout(resolve, beatMs));
  };
  const pulse = new Pulse(beat, () => 30_000, { now: Date.now });
  return { beats, pulse };
}

test('it rests between two beats', async () => {
  const { beats, pulse } = beating();
  pulse.soon();
  await vi.advanceTimersByTimeAsync(95_000);
  expect(beats).toEqual([30_000, 60_000, 90_000]);
});

test('of two wishes the earlier counts', async () => {
  const { beats, pulse } = beating();
  pulse.soon(5_000);
  pulse.soon(1_000);
  pulse.soon(9_000);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(beats).toEqual([1_000]);
});

test('a beat that is asked for during another follows it', async () => {
  const { beats, pulse } = beating(400);
  pulse.soon(0);
  await vi.advanceTimersByTimeAsync(100);
  pulse.soon(50);
  pulse.soon(10);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(beats).toEqual([0, 410]);
});

test('the end waits for the beat under way, and none follows', async () => {
  const { beats, pulse } = beating(400);
  pulse.soon(0);
  await vi.advanceTimersByTimeAsync(100);
  const stopped = pulse.stop();
  await vi.advanceTimersByTimeAsync(100_000);
  await stopped;
  pulse.soon(0);
  await vi.advanceTimersByTimeAsync(100_000);
  expect(beats).toEqual([0]);
});
