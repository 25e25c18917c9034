import { expect, test } from 'vitest';
import { CandidateNaming } from './candidate-naming.ts';
import { type Candidate, encodeCandidate, priorityOf } from './ice/candidate.ts';

const [ONE, TWO] = ['192.0.2.1', '192.0.2.2'].map(
  (address): Candidate => ({ type: 'host', address, port: 51_820, priority: priorityOf('host', address) }),
) as [Candidate, Candidate];

test('an address is told once, in the order given', () => {
  const naming = new CandidateNaming();
  expect(naming.untold([TWO, ONE, TWO])).toEqual([TWO, ONE].map(encodeCandidate));
  expect(naming.untold([ONE, TWO])).toEqual([]);
});

test('all is told again twice after credentials were sent, and not more', () => {
  const naming = new CandidateNaming();
  naming.begin(1_000);
  const told: number[] = [];
  for (let now = 1_000; naming.deadline < Infinity; now = naming.deadline) {
    if (now > 1_000) naming.again(now);
    told.push(now);
    expect(naming.untold([ONE])).toEqual([encodeCandidate(ONE)]);
  }
  expect(told).toEqual([1_000, 1_600, 3_600]);
  expect(naming.deadline).toBe(Infinity);
});
