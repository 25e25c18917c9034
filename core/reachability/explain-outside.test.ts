import fc from 'fast-check';
import { expect, test } from 'vitest';
import { overlaps, parseAddress } from '../model/cidr.ts';
import { rangesOfTerm } from '../model/ranges.ts';
import { compile } from './engine.ts';
import { explainOutside } from './explain-outside.ts';
import { networkModel, PROBES } from './models.testkit.ts';
import { naiveVerdict } from './naive.testkit.ts';

/** One of each stretch outside of the networks that blocks of the generated policies can tell apart. */
const ADDRESSES = ['8.8.8.8', '10.98.0.0', '203.0.112.0', '203.0.113.5', '203.0.113.130', '203.0.114.0'];
const TERMS = ['203.0.113.5', '203.0.113.128/25', '203.0.113.0/24', '203.0.112.0/23', '8.0.0.0/8', '0.0.0.0/0'];

test('addresses outside may do what each of them may by the plain reading of the rules', () => {
  const met = new Map<string, number>();
  fc.assert(
    fc.property(networkModel, fc.constantFrom(...TERMS), ({ externals: _none, ...model }, term) => {
      const reach = compile(model);
      const ranges = rangesOfTerm(term) ?? [];
      const among = ADDRESSES.filter((text) => {
        const address = parseAddress(text);
        return address && ranges.some((range) => overlaps(range, address));
      });
      const asked = { ...model, externals: among.map((name) => ({ name, range: `${name}/32` })) };
      for (const { name: peer } of model.peers) {
        for (const side of ['src', 'dst'] as const) {
          for (const [protocol, port] of PROBES) {
            const verdicts = among.map((address) => {
              const [src, dst] = side === 'src' ? [address, peer] : [peer, address];
              return naiveVerdict(asked, src, dst, protocol, port);
            });
            const expected = verdicts.every(Boolean) ? 'reachable' : verdicts.some(Boolean) ? 'partial' : 'unreachable';
            const ends = side === 'src' ? { src: term, dst: peer } : { src: peer, dst: term };
            const { verdict, allowed, steps } = explainOutside(reach, { ...ends, protocol, port, side, ranges });
            expect({ term, ...ends, protocol, port, verdict }).toEqual({
              term,
              ...ends,
              protocol,
              port,
              verdict: expected,
            });
            expect(allowed).toHaveLength(expected === 'reachable' ? 1 : 0);
            expect(steps.every(({ result }) => result === 'pass')).toBe(expected === 'reachable');
            met.set(expected, (met.get(expected) ?? 0) + 1);
          }
        }
      }
    }),
    { numRuns: 200 },
  );
  for (const verdict of ['reachable', 'partial', 'unreachable']) expect(met.get(verdict)).toBeGreaterThan(10);
}, 60_000);
