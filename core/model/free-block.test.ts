import { expect, test } from 'vitest';
import { parseCidr } from './cidr.ts';
import { freeBlock, prefixFor, widerBlock } from './free-block.ts';

const ranges = (...blocks: readonly string[]) => blocks.flatMap((block) => parseCidr(block) ?? []);

test.each([
  [1, 24],
  [254, 24],
  [255, 23],
  [1_000, 22],
  [10_000, 18],
  [1_000_000, 12],
])('%i nodes need the prefix %i', (nodes, prefix) => {
  expect(prefixFor(nodes)).toBe(prefix);
});

test('the next free block overlaps no other, is aligned to its size, and lies outside of the services of Kubernetes', () => {
  expect(freeBlock(24, [])).toBe('10.200.0.0/24');
  expect(freeBlock(24, ranges('10.200.0.0/24', '10.200.1.7/32', '10.96.0.0/24'))).toBe('10.200.2.0/24');
  expect(freeBlock(22, ranges('10.200.0.0/24'))).toBe('10.200.4.0/22');
  expect(freeBlock(24, ranges('10.200.0.0/13', '10.208.0.0/12', '10.224.0.0/11'))).toBe('10.112.0.0/24');
  expect(freeBlock(24, ranges('10.0.0.0/8'))).toBeUndefined();
});

test('a wider block is twice as large around the same addresses, where no other network has them', () => {
  expect(widerBlock('10.96.0.0/24', [])).toBe('10.96.0.0/23');
  expect(widerBlock('10.97.1.0/24', ['10.98.0.0/24'])).toBe('10.97.0.0/23');
  expect(widerBlock('10.96.0.0/24', ['10.96.1.0/24'])).toBeUndefined();
  expect(widerBlock('10.64.0.0/10', [])).toBeUndefined();
});
