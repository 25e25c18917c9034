import { expect, test } from 'vitest';
import { StoreError } from '../base/ports.ts';
import { fromStore } from './store-problems.ts';

test('of a store that does not answer nothing is claimed of what was to be written, and it is said when to ask again', () => {
  const { code, message, details } = fromStore(new StoreError('unavailable', 'the database: no primary'));
  expect([code, details]).toEqual(['unavailable', { retryAfterSeconds: 5 }]);
  expect(message).toContain('may stand');
  expect(message).not.toContain('Nothing was written');
});

test('whose lease has passed to another wrote nothing, and is told so', () => {
  const { message, details } = fromStore(new StoreError('fenced', 'leadership/share/01'));
  expect(details).toEqual({ retryAfterSeconds: 5 });
  expect(message).toContain('Nothing was written');
});
