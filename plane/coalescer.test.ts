import { expect, test } from 'vitest';
import { Coalescer } from './coalescer.ts';

test('a change goes out 50 ms after the last one, and no later than 1 s after the first', () => {
  const coalescer = new Coalescer();
  const due = [];
  for (let now = 0; now <= 1_000; now += 40) {
    coalescer.add('x', now);
    due.push(coalescer.dueAt);
  }
  expect([due[0], due[1], due.at(-2), due.at(-1)]).toEqual([50, 90, 1_000, 1_000]);
});

test('the reasons of what was gathered go out once, each said once and the rest counted', () => {
  const coalescer = new Coalescer();
  for (const reason of ['a', 'b', 'a', 'c', 'd', 'e', 'b']) coalescer.add(reason, 0);
  expect([coalescer.take(), coalescer.take(), coalescer.dueAt]).toEqual(['a; b; c; 2 more', undefined, undefined]);
});
