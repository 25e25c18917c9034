import { expect, test } from 'vitest';
import type { Commit } from '../core/base/ports.ts';
import { KINDS } from '../core/base/record.ts';
import { SCOPES, type Scope } from '../core/base/scope.ts';
import { rowsOf, sectionsOf } from '../test/kits/process/page-blocks.ts';
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

/** Which scope shows a deleted record of a kind; undefined where none does. */
function scopeThatShows(kind: string): Scope | undefined {
  const record = { kind, name: 'a', uid: 'a_1' };
  const commit = { revision: 7, at: 0, actor: 'user:ada', changes: [{ type: 'deleted', record }] } as unknown as Commit;
  const showing = SCOPES.filter((scope) => eventTextOf(commit, new Set([scope])) !== undefined);
  expect(showing.length).toBeLessThan(2);
  return showing[0];
}

test('every kind of record has an event with the scope that docs/events.md names, or none', () => {
  const page = sectionsOf('docs/events.md').find(({ heading }) => heading === 'Kinds')?.text ?? '';
  const documented = rowsOf(page).flatMap(([kinds = '', scope = '']) =>
    [...kinds.matchAll(/`([A-Z]\w+)`/g)].map(([, kind]) => [kind, scope.replaceAll('`', '')]),
  );
  const shown = Object.keys(KINDS).flatMap((kind) => {
    const scope = scopeThatShows(kind);
    return scope === undefined ? [] : [[kind, scope]];
  });
  expect(shown.toSorted()).toEqual(documented.toSorted());
});
