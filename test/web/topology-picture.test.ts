import { expect, test } from 'vitest';
import { curvesOf, distanceTo, pointAt } from '../../web/src/pages/topology/curves.ts';
import { huesOf } from '../../web/src/pages/topology/hues.ts';
import { layOut } from '../../web/src/pages/topology/layout.ts';
import { edgeText, graphOf } from '../../web/src/pages/topology/model.ts';
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

test('the label of a line says which ports are open, and between how many pairs in both directions', () => {
  const [cell] = summaryOf(2).cells;
  if (!cell) throw new Error('There is no cell.');
  const allowed = [{ protocol: 'TCP' as const, from: 5432, to: 5432 }];
  const there = { ...cell, allowed, open_pairs: 1_200 };
  expect(edgeText({ there, back: undefined })).toBe('TCP 5432 · 1,200 pairs');
  expect(edgeText({ there: undefined, back: { ...cell, open_pairs: 1 } })).toBe('everything · 1 pair');
  expect(edgeText({ there, back: cell })).toBe('TCP 5432 / everything · 1,201 pairs');
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

test('a line bends around a node that stands in its way, and is straight where none does', () => {
  const graph = graphOf(summaryOf(3), undefined, null);
  const row = new Map(graph.nodes.map(({ key }, index) => [key, { x: index * 200, y: 0 }]));
  const [first, middle, last] = graph.nodes;
  const lineOf = (places: typeof row) => {
    const edge = graph.edges.find(({ a, b }) => a === first && b === last);
    return curvesOf(graph, places).get(edge?.key ?? '') ?? expect.fail();
  };
  const bent = lineOf(row);
  expect(distanceTo(bent, { x: 200, y: 0 })).toBeGreaterThan(middle?.radius ?? 0);
  expect(pointAt(bent, 0.5).x).toBeCloseTo(200);
  const aside = new Map(row).set(middle?.key ?? '', { x: 200, y: 300 });
  expect(lineOf(aside)).toEqual({
    from: { x: (first?.radius ?? 0) + 2, y: 0 },
    to: { x: 398 - (last?.radius ?? 0), y: 0 },
    control: undefined,
  });
});

test('no line of a small network crosses a node, and it stands in an oblong of the whole height', async () => {
  const chain = summaryOf(7);
  const cells = chain.cells.filter(({ src, dst }) => dst === src + 1 || (src === 0 && dst === 6) || dst === src + 2);
  const graph = graphOf({ ...chain, cells }, undefined, null);
  const places = await layOut(graph, new Map(), undefined, new AbortController().signal);
  const curves = curvesOf(graph, places);
  const crossed = graph.edges.flatMap(({ key, a, b }) => {
    const curve = curves.get(key) ?? expect.fail();
    const others = graph.nodes.filter((node) => node !== a && node !== b);
    return others.filter((node) => distanceTo(curve, places.get(node.key) ?? expect.fail()) < node.radius);
  });
  expect(crossed).toEqual([]);
  const [xs, ys] = [[...places.values()].map(({ x }) => x), [...places.values()].map(({ y }) => y)];
  const sizeOf = (values: readonly number[]) => Math.max(...values) - Math.min(...values);
  expect(sizeOf(ys) / sizeOf(xs)).toBeGreaterThan(0.3);
});

test('each group has a hue of its own, which it keeps while others come, and peers that stand alone have that of their group', () => {
  const label = (name: string) => ({ kind: 'label', name }) as const;
  const few = huesOf(['web', 'db', 'api'].map(label));
  expect(new Set(few.values()).size).toBe(3);
  const many = huesOf([...'abcdefgh'].map(label));
  expect(new Set(many.values()).size).toBe(8);
  expect(huesOf([...'abcdefgh', 'zz'].map(label))).toEqual(new Map([...many, ['label zz', expect.any(Number)]]));
  expect(huesOf([{ kind: 'outside', name: 'outside' }]).size).toBe(0);
  const { nodes } = graphOf(summaryOf(2), undefined, null, 'label web');
  expect(nodes.map(({ hue }) => hue)).toEqual(Array(2).fill(huesOf([label('web')]).get('label web')));
});
