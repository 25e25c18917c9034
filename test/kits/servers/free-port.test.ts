import { expect, test } from 'vitest';
import { freePorts } from './free-port.ts';

test('nobody is given a port that another one was given, in this file or in one that runs at the same time', async () => {
  const own = process.env['VITEST_POOL_ID'];
  const ports: number[] = [];
  for (const file of ['1', '2', '1']) {
    process.env['VITEST_POOL_ID'] = file;
    ports.push(...(await freePorts(50)));
  }
  process.env['VITEST_POOL_ID'] = own;
  expect(new Set(ports).size).toBe(150);
  expect(Math.max(...ports.slice(0, 50), ...ports.slice(100))).toBeLessThan(Math.min(...ports.slice(50, 100)));
});
