import { expect, test } from 'vitest';
import { hasInterface } from './has-interface.ts';

const TABLE = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 2776770   11307    0    0    0     0          0         0  2776770   11307    0    0    0     0       0          0
mesh10: 1215645    2751    0    0    0     0          0         0  1782404    4324    0    0    0   427       0          0
`;

test('an interface is known by its whole name', () => {
  const known = ['lo', 'mesh10', 'mesh1', 'esh10', 'mesh0', ' face |bytes'].filter((name) => hasInterface(name, TABLE));
  expect(known).toEqual(['lo', 'mesh10']);
});

test('where nothing is told of interfaces there is none', () => {
  expect(hasInterface('lo', '')).toBe(false);
});
