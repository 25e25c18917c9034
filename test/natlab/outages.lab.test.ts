import { expect, it } from 'vitest';
import { describePrivileged } from '../kits/lab/privileged.ts';
import { outages, withPair } from './outages.ts';

describePrivileged('a pair of nodes in use', () => {
  it.each(outages)('$path: $name, and answers in time', async (outage) => {
    expect(await withPair(outage, outage.measure)).toBeLessThan(outage.limitMs);
  });
});
