import { expect, test } from 'vitest';
import { StoreError } from './ports.ts';
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

test.each([
  ['unique', 'slot:66'],
  ['unique', 'token:9f86d081884c7d65'],
  ['unique', 'ip:10.96.0.7'],
  ['conflict', 'Token/join.tok_1'],
  ['conflict', 'Presence/web-1'],
  ['already_exists', 'AddressRest/10.96.0.7'],
  ['not_found', 'Session/ses_1'],
  ['conflict', 'MeshPolicy/web is written twice in one batch'],
] as const)(
  'who meets others at a place that callers do not know is told to send it again, and nothing of the place: %s %s',
  (code, subject) => {
    const problem = fromStore(new StoreError(code, subject));
    expect([problem.code, problem.details]).toEqual(['unavailable', { retryAfterSeconds: 5 }]);
    expect(problem.message).toBe(
      'Others wrote at the same moment, again and again, so this was not written: send it again.',
    );
  },
);

test.each([
  ['conflict', 'MeshPolicy/web', 'conflict', 'MeshPolicy/web was changed by someone else: read it again and retry.'],
  ['already_exists', 'MeshPolicy/web', 'conflict', 'MeshPolicy/web exists already: choose another name.'],
  ['not_found', 'MeshPolicy/web', 'not_found', 'There is no MeshPolicy/web.'],
  ['not_found', 'level 2, index 5 of the log', 'not_found', 'There is no level 2, index 5 of the log.'],
] as const)('what callers know is named: %s %s', (code, subject, told, message) => {
  const problem = fromStore(new StoreError(code, subject));
  expect([problem.code, problem.message]).toEqual([told, message]);
});

test('what is too large is named where callers know it', () => {
  const told = (subject: string) => fromStore(new StoreError('too_large', subject)).message;
  expect(told('MeshPolicy/web (9000 of 8192 bytes)')).toMatch(/^MeshPolicy\/web \(9000 of 8192 bytes\) is too large/);
  expect(told('AssessmentPage/a.1 (9000 of 8192 bytes)')).toMatch(/^A record of this is too large/);
});
