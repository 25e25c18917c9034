import { expect, test } from 'vitest';
import { LogLines } from './log.ts';
import { TimelineRows } from './rows.ts';

test('of rows that the log does not tell of the first is kept and their number, not each', () => {
  const rows = new TimelineRows(new LogLines(0, []), { from: 0, to: 1 });
  rows.read('[\n{"snapshot_id":"snap_1"},\n{"snapshot_id":"snap_2"},\n{"snapshot_id":3}\n]\n');
  rows.end();
  expect(rows.unknown).toEqual({ first: 'snap_1', count: 3 });
});
