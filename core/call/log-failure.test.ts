import { expect, test } from 'vitest';
import { CallerDisconnected } from '../base/caller-disconnected.ts';
import { MeshError, toProblem } from '../base/errors.ts';
import { logFailure } from './log-failure.ts';

function levelOf(error: unknown): string[] {
  const levels: string[] = [];
  const log = { info: () => void levels.push('info'), error: () => void levels.push('error') };
  logFailure(log, error, toProblem(error, { requestId: 'r_1' }), {});
  return levels;
}

test.each([
  ['what the caller did wrong', new MeshError('not_found', 'No such peer.'), 'info'],
  ['a caller that has gone', new CallerDisconnected(), 'info'],
  ['a store that does not answer', new MeshError('unavailable', 'The store does not answer.'), 'error'],
  ['what nobody expected', new TypeError('undefined is no function'), 'error'],
])('%s is one line at its level', (_, error, level) => {
  expect(levelOf(error)).toEqual([level]);
});
