import { expect, test } from 'vitest';
import { layOut } from '../../web/src/pages/topology/layout.ts';
import { graphOf } from '../../web/src/pages/topology/model.ts';
import { digestOf } from '../../web/src/pages/topology/places.ts';
import type { Summary } from '../../web/src/reach/groups.ts';

/** So many peers that each reach each other. */
function summaryOf(peers: number, omitted = 0): Summary {
  const places = Array.from({ length: peers }, (_, place) => place);
  const cells = places.flatMap((src) =>
    places
      .filter((dst) => dst > src)
      .map((dst) => ({ src, dst, pairs: 1, open_pairs: 1, allowed: 'ALL' as const, omitted_ports: 0, alike: true })),
  );
  return {
    at: '2026-01-05T12:00:00Z',
    revision: 1,
    by: 'role',
    keys: [],
    groups: places.map((place) => ({ kind: 'peer', name: `peer-${place}`, peers: 1, online: 0 })),
    cells,
    omitted_groups: 0,
    omitted_cells: omitted,
  };
}

test('at most 2,000 lines are drawn, and those left out are counted', () => {
  const { edges, left } = graphOf(summaryOf(80, 5), undefined, null);
  expect([edges.length, left]).toEqual([2_000, (80 * 79) / 2 - 2_000 + 5]);
});

test('both directions of a connection are one line: relayed where one pair is, without a path where no pair has one', () => {
  const summary = summaryOf(2);
  const [there] = summary.cells;
  if (!there) throw new Error('There is no cell.');
  const groups = summary.groups.map(({ kind, name }) => ({ kind, name })).toReversed();
  const pathsOf = (direct: number, relayed: number, failed: number) => ({
    by: 'role',
    groups,
    paths: [{ a: 0, b: 1, direct, relayed, failed }],
    omitted_paths: 0,
  });
  const both = { ...summary, cells: [there, { ...there, src: 1, dst: 0 }] };
  const kindOf = (...counts: [number, number, number]) =>
    graphOf(both, pathsOf(...counts), null).edges.map(({ kind }) => kind);
  expect([kindOf(3, 0, 0), kindOf(3, 1, 0), kindOf(0, 0, 2)]).toEqual([['direct'], ['relayed'], ['failed']]);
  expect(graphOf(both, undefined, null).edges).toMatchObject([{ kind: 'none', there: { src: 0 }, back: { src: 1 } }]);
});

test('what stood somewhere stands there again, and the rest finds the same places each time', async () => {
  const graph = graphOf(summaryOf(12), undefined, null);
  const known = new Map([[digestOf('peer peer-3'), { x: 500, y: -40 }]]);
  const { signal } = new AbortController();
  const [one, other] = [await layOut(graph, known, undefined, signal), await layOut(graph, known, undefined, signal)];
  expect(one.get('peer peer-3')).toEqual({ x: 500, y: -40 });
  expect(one).toEqual(other);
  expect(new Set([...one.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(12);
});

test('a layout that nobody waits for any more is given up', async () => {
  const graph = graphOf(summaryOf(12), undefined, null);
  const known = new Map();
  await expect(layOut(graph, known, undefined, AbortSignal.abort())).rejects.toThrow();
});
