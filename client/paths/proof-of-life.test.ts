import { expect, test } from 'vitest';
import { ProofOfLife } from './proof-of-life.ts';

/** Seconds between SYNs that stay unanswered, and the wait that follows the last of them. */
function waits(life: ProofOfLife, count: number): number[] {
  return Array.from({ length: count }, () => {
    const now = life.deadline;
    life.asked(now, 0);
    return (life.deadline - now) / 1_000;
  });
}

test('a peer that does not answer is asked ever more rarely, until something speaks for an answer', () => {
  const life = new ProofOfLife();
  life.ask(0);
  expect(waits(life, 10)).toEqual([1, 2, 4, 8, 15, 30, 60, 120, 300, 300]);
  life.startOver();
  expect(waits(life, 2)).toEqual([1, 2]);
});

test('a peer that proved itself is asked no more', () => {
  const life = new ProofOfLife();
  life.ask(0);
  life.asked(0, 0);
  life.proven();
  expect([life.isProven, life.unansweredSyns, life.deadline]).toEqual([true, 0, Infinity]);
});

test('a peer that proves itself and then negotiates nothing is doubted ever later', () => {
  const life = new ProofOfLife();
  const doubts = Array.from({ length: 4 }, () => {
    life.proven();
    life.doubt(0, 0);
    return life.deadline;
  });
  expect([doubts, life.isProven]).toEqual([[1_000, 2_000, 4_000, 8_000], false]);
  life.negotiated();
  life.doubt(0, 0);
  expect(life.deadline).toBe(1_000);
});

test('a peer that left is asked at the rarest pace', () => {
  const life = new ProofOfLife();
  life.proven();
  life.left(1_000, 0);
  expect([life.isProven, life.deadline]).toEqual([false, 301_000]);
});
