import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type IpRange, parseCidr } from '../model/cidr.ts';
import { EVERY_ADDRESS, rangesOfTerm, union, without } from '../model/ranges.ts';
import { textOfRanges } from './outside.ts';
import { rangeNames } from './range-names.ts';

const rangeOf = (text: string): IpRange[] => [parseCidr(text) ?? []].flat();
const INSIDE = rangeOf('10.96.0.0/24');

test('all but what a block with an exception names is told without an exception of an exception', () => {
  const cidr = rangeOf('0.0.0.0/0')[0] as IpRange;
  const except = rangeOf('203.0.113.7/32');
  const ranges = without(without(EVERY_ADDRESS, INSIDE), without([cidr], except));
  expect(rangeNames(ranges, INSIDE, [{ cidr, except }])).toEqual(['203.0.113.7/32', '::/0']);
});

const block = fc
  .constantFrom(
    ['0.0.0.0/0', '203.0.113.7/32'],
    ['203.0.113.0/24', '203.0.113.64/26'],
    ['10.0.0.0/8', '10.96.0.0/24'],
    ['20.0.0.0/9'],
    ['2000::/4', '2001:db8::/32'],
    ['::/0'],
  )
  .map(([cidr = '', ...except]) => ({ cidr: rangeOf(cidr)[0] as IpRange, except: except.flatMap(rangeOf) }));

test('the names of addresses mean exactly these where they are read as a question has them', () => {
  fc.assert(
    fc.property(
      fc.array(block, { maxLength: 4 }),
      fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
      (blocks, chosen) => {
        const named = union(
          blocks.flatMap(({ cidr, except }, index) => (chosen[index] ? without([cidr], union(except)) : [])),
        );
        for (const ranges of [named, without(EVERY_ADDRESS, named)].map((one) => without(one, INSIDE))) {
          const read = rangeNames(ranges, INSIDE, blocks).map((name) => rangesOfTerm(name) ?? name);
          expect(read.filter((one) => typeof one === 'string')).toEqual([]);
          expect(textOfRanges(without(union(read.flat() as IpRange[]), INSIDE))).toBe(textOfRanges(ranges));
        }
      },
    ),
  );
});
