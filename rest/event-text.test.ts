import { expect, test } from 'vitest';
import type { Commit } from '../core/base/ports.ts';
import type { Scope } from '../core/base/scope.ts';
import { peer } from '../test/kits/records/records.ts';
import { eventTextOf } from './event-text.ts';

/** A commit that counts how often it is read. */
function readCounted() {
  let reads = 0;
  const commit = {
    workspace: 'w',
    revision: 7,
    at: 0,
    actor: 'user:ada',
    reason: 'test',
    get changes() {
      reads += 1;
      return [{ type: 'created', record: peer('a') }];
    },
  } as unknown as Commit;
  return { commit, reads: () => reads };
}

test('what a commit says is written once for all readers with the same scopes, however many there are', () => {
  const { commit, reads } = readCounted();
  const viewer = () => new Set<Scope>(['network:read', 'tokens:read' as Scope]);
  const auditor = () => new Set<Scope>(['network:read', 'audit:read']);
  const texts = Array.from({ length: 500 }, () => eventTextOf(commit, viewer()));
  expect([new Set(texts).size, reads()]).toEqual([1, 1]);
  expect([texts[0]?.includes('user:ada'), eventTextOf(commit, auditor())?.includes('user:ada'), reads()]).toEqual([
    false,
    true,
    2,
  ]);
});

test('a reader who may see none of the changes is told nothing, also when asked again', () => {
  const { commit, reads } = readCounted();
  expect([eventTextOf(commit, new Set()), eventTextOf(commit, new Set()), reads()]).toEqual([undefined, undefined, 1]);
});
