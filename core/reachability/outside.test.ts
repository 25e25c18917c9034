import fc from 'fast-check';
import { expect, test } from 'vitest';
import { containsRange, parseAddress, parseRange } from '../model/cidr.ts';
import { compile } from './engine.ts';
import { withExternals } from './externals.ts';
import { networkModel, PROBES } from './models.testkit.ts';
import { naiveVerdict } from './naive.testkit.ts';
import { outsideRanges } from './outside.ts';

const ADDRESSES = ['203.0.113.5', '203.0.113.130', '203.0.113.200', '203.0.114.0', '8.8.8.8', '10.96.1.0'];

test('an address outside of the network is answered as the range that it lies in', () => {
  let answered = 0;
  fc.assert(
    fc.property(networkModel, ({ externals: _none, ...model }) => {
      const reach = compile(model);
      const ranges = outsideRanges(reach);
      const all = withExternals(reach, ranges);
      for (const address of ADDRESSES) {
        const range = ranges.find(({ name }) => holds(name, address)) ?? ranges.at(-1);
        if (!range) continue;
        const asked = { ...model, externals: [{ name: address, range: `${address}/32` }] };
        for (const { name } of model.peers) {
          for (const [protocol, port] of PROBES.slice(0, 5)) {
            const found = [
              all.verdict(range.name, name, protocol, port),
              all.verdict(name, range.name, protocol, port),
            ];
            const expected = [
              naiveVerdict(asked, address, name, protocol, port),
              naiveVerdict(asked, name, address, protocol, port),
            ];
            expect({ address, in: range.name, name, port, found }).toEqual({
              address,
              in: range.name,
              name,
              port,
              found: expected,
            });
            answered += 1;
          }
        }
      }
    }),
    { numRuns: 100 },
  );
  expect(answered).toBeGreaterThan(1_000);
}, 30_000);

function holds(text: string, address: string): boolean {
  const [range, one] = [parseRange(text), parseAddress(address)];
  return range !== undefined && one !== undefined && containsRange(range, one);
}
