import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { type CountedUse, EgressReport, MAX_KINDS } from './egress-report.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const opened = (destination: string) => ({ destination, outcome: 'opened' as const });

test('attempts are counted, and reported after the first one and then every ten seconds', async () => {
  const sent: (readonly CountedUse[])[] = [];
  const report = new EgressReport(async (uses) => void sent.push(uses), silentLog);
  for (let n = 0; n < 3; n += 1) report.add(opened('a.example:443'));
  report.add({ destination: 'a.example:443', outcome: 'refused', reason: 'why' });
  await vi.advanceTimersByTimeAsync(500);
  expect(sent).toEqual([
    [
      { destination: 'a.example:443', outcome: 'opened', count: 3 },
      { destination: 'a.example:443', outcome: 'refused', count: 1 },
    ],
  ]);
  report.add(opened('b.example:443'));
  await vi.advanceTimersByTimeAsync(9_000);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(sent).toHaveLength(2);
});

test('a program that makes destinations up fills no report beyond its bound, and a failed report is not repeated', async () => {
  let sent: readonly CountedUse[] = [];
  const report = new EgressReport(async (uses) => {
    sent = uses;
    throw new Error('away');
  }, silentLog);
  for (let n = 0; n < 1_000; n += 1) report.add(opened(`${n}.example:443`));
  await report.flush();
  expect(sent).toHaveLength(MAX_KINDS);
  sent = [];
  await report.flush();
  expect(sent).toEqual([]);
});

test('an attempt after the end is not reported, and leaves no timer', async () => {
  const sent: (readonly CountedUse[])[] = [];
  const report = new EgressReport(async (uses) => void sent.push(uses), silentLog);
  report.add(opened('a.example:443'));
  await report.close();
  report.add(opened('b.example:443'));
  expect(vi.getTimerCount()).toBe(0);
  expect(sent).toEqual([[{ destination: 'a.example:443', outcome: 'opened', count: 1 }]]);
});
