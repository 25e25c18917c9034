import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ConnectionSlots } from './connection-slots.ts';

const LIMITS = { total: 12, perHost: 3, perSite: 6 };
const step = fc.record({ host: fc.nat(7), leaves: fc.boolean(), which: fc.nat(20) });

test('no host, no site and no flood ever holds more than its places, and who came alone keeps its own', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const places = new ConnectionSlots<number>(LIMITS);
      // Two hosts make a site.
      const held = new Map<number, number>();
      places.add(-1, { host: 'alone', site: 'alone' });
      for (const [member, { host, leaves, which }] of steps.entries()) {
        if (leaves) {
          const leaver = [...held.keys()][which % Math.max(1, held.size)] ?? 0;
          places.remove(leaver);
          held.delete(leaver);
          continue;
        }
        held.set(member, host);
        const gone = places.add(member, { host, site: host >> 1 });
        if (gone !== undefined) expect(held.delete(gone)).toBe(true);
        const hosts = [...held.values()];
        const most = (of: readonly number[]) =>
          Math.max(...of.map((one) => of.filter((other) => other === one).length));
        expect(most(hosts)).toBeLessThanOrEqual(LIMITS.perHost);
        expect(most(hosts.map((one) => one >> 1))).toBeLessThanOrEqual(LIMITS.perSite);
        expect(places.size).toBe(held.size + 1);
        expect(places.size).toBeLessThanOrEqual(LIMITS.total);
      }
    }),
  );
});

test('when all places are taken, the oldest of the site that has most goes', () => {
  const places = new ConnectionSlots<string>({ total: 3, perHost: 9, perSite: 9 });
  for (const [member, site] of [
    ['a1', 'a'],
    ['b1', 'b'],
    ['a2', 'a'],
  ] as const) {
    expect(places.add(member, { host: site, site })).toBeUndefined();
  }
  expect(places.add('c1', { host: 'c', site: 'c' })).toBe('a1');
  expect(places.add('b2', { host: 'b', site: 'b' })).toBe('b1');
});
