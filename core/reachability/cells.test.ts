import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellsBetween, portsOfCell } from './cells.ts';
import { compile } from './engine.ts';
import { pairRows } from './matrix.ts';
import { namesOf, networkModel } from './models.testkit.ts';

test('cells count each pair of the matrix once and tell all of its ports, whatever the groups', () => {
  fc.assert(
    fc.property(networkModel, fc.integer({ min: 1, max: 4 }), (model, count) => {
      const reach = compile(model);
      const names = namesOf(model);
      const groups = Array.from({ length: count }, (_, group) =>
        names.filter((_name, place) => place % count === group),
      );
      const groupOf = new Map(groups.flatMap((members, group) => members.map((name) => [name, group] as const)));
      const { ports } = reach.parts;
      const expected = new Map<string, { open: number; all: number }>();
      for (const { src, dst, allowed } of pairRows(reach)) {
        const key = `${groupOf.get(src)} ${groupOf.get(dst)}`;
        const cell = expected.get(key) ?? { open: 0, all: ports.ofRanges([]) };
        const set = allowed === 'ALL' ? ports.ofEntries([]) : ports.ofRanges(allowed);
        expected.set(key, { open: cell.open + 1, all: ports.union(cell.all, set) });
      }
      const found = cellsBetween(reach, groups).map(
        (cell) => [`${cell.src} ${cell.dst}`, { open: cell.open, ports: portsOfCell(reach, cell) }] as const,
      );
      const wanted = [...expected].map(([key, { open, all }]) => [key, { open, ports: ports.describe(all) }] as const);
      expect(new Map(found)).toEqual(new Map(wanted));
    }),
    { numRuns: 300 },
  );
});
