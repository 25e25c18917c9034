import { expect, test } from 'vitest';
import { memoryCells } from '../core/base/memory-cells.ts';
import { cellsContract } from './contract/cells.testkit.ts';

function clockAt(time: number) {
  const clock = { time, now: () => clock.time };
  return clock;
}

cellsContract('cells in memory', () => {
  const clock = clockAt(1_000_000);
  const cells = memoryCells<number>(clock, 1_000);
  return { clock, cells: [cells, cells] };
});

test('cells in memory are a bounded number, of which the one left alone for longest makes room', async () => {
  const cells = memoryCells<number>(clockAt(0), 2);
  const touch = (key: string) => cells.change(key, () => ({ cell: { value: 0, expiresAt: 1 }, result: undefined }));
  for (const key of ['a', 'b', 'a', 'c']) await touch(key);
  expect([...(await cells.read(['a', 'b', 'c'])).keys()]).toEqual(['a', 'c']);
});
