import { expect, test } from 'vitest';
import { problems } from '../core/base/errors.ts';
import { EXIT, exitCodeOf } from './exit.ts';

test('a command ends by the kind of problem: every refusal of rights with 3, what may work later with 7', () => {
  const codes = (status: number) =>
    Object.entries(problems).flatMap(([code, problem]) => (problem.status === status ? [exitCodeOf(code)] : []));
  expect([401, 403].flatMap(codes)).toEqual(Array(8).fill(EXIT.auth));
  expect([429, 500, 503].flatMap(codes)).toEqual(Array(3).fill(EXIT.unavailable));
  expect([404, 402].flatMap(codes)).toEqual([EXIT.notFound, EXIT.edition]);
  expect(new Set([409, 410].flatMap(codes))).toEqual(new Set([EXIT.conflict]));
});

test('a problem that this version does not know ends with 7', () => {
  expect(exitCodeOf('of-a-newer-server')).toBe(EXIT.unavailable);
});
