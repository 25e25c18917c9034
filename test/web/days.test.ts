import { expect, test } from 'vitest';
import type { Change } from '../../web/src/pages/time/change.ts';
import { daysOf } from '../../web/src/pages/time/days.ts';

function change(at: string, name: string, kind: 'MeshPeer' | 'MeshPolicy' = 'MeshPeer'): Change {
  const resources: Change['resources'] = [{ type: 'created', kind, name }];
  const by = { actor: 'user:ada', reason: null, workflow_id: null, reviewed_by: null };
  return { at, revision: Date.parse(at), ...by, resources, effect: null };
}

const shownOf = (changes: readonly Change[]) =>
  daysOf(changes, (at) => at.slice(0, 10)).map(({ count, rows }) => [
    count,
    rows.map((row) => ('changes' in row ? row.what : row.resources[0]?.name)),
  ]);

test('three or more changes of a kind in a row become one line, and fewer stay lines of their own', () => {
  const joined = (count: number, hour: number) =>
    Array.from({ length: count }, (_, index) => change(`2026-03-12T${hour}:00:0${9 - index}Z`, `web-${index}`));
  expect(shownOf([...joined(3, 15), change('2026-03-12T14:00:00Z', 'base', 'MeshPolicy'), ...joined(2, 13)])).toEqual([
    [6, ['3 peers joined', 'base', 'web-0', 'web-1']],
  ]);
});

test('changes stand below their day, also where the same went on over midnight', () => {
  const night = ['2026-03-12T12:00:03Z', '2026-03-12T12:00:02Z', '2026-03-10T12:00:01Z', '2026-03-10T12:00:00Z'];
  expect(shownOf(night.map((at, index) => change(at, `web-${index}`)))).toEqual([
    [2, ['web-0', 'web-1']],
    [2, ['web-2', 'web-3']],
  ]);
});
