import { expect, it } from 'vitest';
import { describePrivileged, isLong } from '../kits/lab/privileged.ts';
import { outages } from './outages.ts';
import { withPair } from './pair.ts';

const told = isLong ? outages : outages.filter(({ isQuick }) => isQuick);

describePrivileged('a pair of nodes in use', () => {
  it.each(told.map((outage) => ({ ...outage, kind: outage.kind ?? 'root' })))(
    '$kind, $path: $name, and answers in time',
    async (outage) => {
      expect((await withPair(outage, outage.measure)).ms).toBeLessThan(outage.limitMs);
    },
  );
});
