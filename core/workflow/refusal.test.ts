import { expect, test } from 'vitest';
import { MeshError } from '../base/errors.ts';
import { StoreError, type StoreErrorCode } from '../base/ports.ts';
import { isRefusal, reasonOf } from './refusal.ts';

test.each<[StoreErrorCode, string, boolean]>([
  ['unique', 'slot:66', false],
  ['conflict', 'Token/join.tok_1', false],
  ['changed', 'MeshPeer', false],
  ['unavailable', 'the database', false],
  ['fenced', 'leadership/share/01', false],
  ['conflict', 'MeshPolicy/web', true],
  ['too_large', 'MeshPolicy/web (9000 of 8192 bytes)', true],
  ['full', 'the disk', true],
])(
  'what was approved ends by what cannot be done, and not because others wrote at the same moment: %s %s',
  (code, subject, isEnd) => {
    expect(isRefusal(new StoreError(code, subject))).toBe(isEnd);
  },
);

test('what was approved does not end because an agent beside who asked has too much under way', () => {
  expect(isRefusal(new MeshError('rate_limited', '128 of your writes wait.'))).toBe(false);
  expect(isRefusal(new MeshError('conflict', 'The name is taken.'))).toBe(true);
});

test('why a workflow failed is told as a caller is told', () => {
  const told = 'conflict: MeshPolicy/web was changed by someone else: read it again and retry.';
  expect(reasonOf(new StoreError('conflict', 'MeshPolicy/web'))).toBe(told);
  expect(reasonOf(new StoreError('unique', 'slot:66'))).toMatch(/^unavailable: Others wrote/);
  expect(reasonOf(new MeshError('conflict', 'The name is taken.'))).toBe('conflict: The name is taken.');
  expect(reasonOf(new Error('boom'))).toBe('Error: boom');
});
