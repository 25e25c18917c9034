import { expect, test } from 'vitest';
import { batchedReads } from './newest-heads.ts';

interface Reading {
  readonly names: readonly string[];
  answer(value: number): void;
  fail(): void;
}

function reads() {
  const readings: Reading[] = [];
  const ask = batchedReads((names) => {
    const { promise, resolve, reject } = Promise.withResolvers<ReadonlyMap<string, number>>();
    readings.push({
      names,
      answer: (value) => resolve(new Map(names.map((name) => [name, value]))),
      fail: () => reject(new Error('no answer')),
    });
    return promise;
  });
  return { readings, ask };
}

test('those who ask in the same tick share one reading of all their names', async () => {
  const { readings, ask } = reads();
  const both = Promise.all([ask(['a', 'b']), ask(['b', 'c'])]);
  await expect.poll(() => readings.length).toBe(1);
  expect(readings[0]?.names).toEqual(['a', 'b', 'c']);
  readings[0]?.answer(1);
  expect((await both)[1].get('c')).toBe(1);
});

test('who asks while a reading is under way gets what is read after it', async () => {
  const { readings, ask } = reads();
  const first = ask(['a']);
  await expect.poll(() => readings.length).toBe(1);
  const later = Promise.all([ask(['a']), ask(['b'])]);
  readings[0]?.answer(1);
  expect((await first).get('a')).toBe(1);
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.answer(2);
  expect((await later)[0].get('a')).toBe(2);
  expect(readings[1]?.names).toEqual(['a', 'b']);
});

test('a reading that fails fails for those who share it, and no other', async () => {
  const { readings, ask } = reads();
  const failing = ask(['a']);
  await expect.poll(() => readings.length).toBe(1);
  const later = ask(['a']);
  readings[0]?.fail();
  await expect(failing).rejects.toThrow('no answer');
  await expect.poll(() => readings.length).toBe(2);
  readings[1]?.answer(2);
  expect((await later).get('a')).toBe(2);
});
