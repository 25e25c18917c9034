import { describe, expect, test } from 'vitest';
import { type Obstruction, Simulation } from './simulation.testkit.ts';

/** Where two kinds of network lead: `either` where it depends on who happens to send first. */
const GRID: Readonly<Record<Obstruction, Readonly<Record<Obstruction, 'direct' | 'relayed' | 'either'>>>> = {
  none: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'direct', open: 'direct' },
  firewall: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'relayed', open: 'direct' },
  easy: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'relayed', open: 'direct' },
  hard: { none: 'direct', firewall: 'relayed', easy: 'relayed', hard: 'relayed', open: 'relayed' },
  open: { none: 'direct', firewall: 'direct', easy: 'direct', hard: 'relayed', open: 'either' },
};
const KINDS = Object.keys(GRID) as Obstruction[];

describe('paths', () => {
  test.each(KINDS.flatMap((a) => KINDS.map((b) => [a, b, GRID[a][b]] as const)))(
    '%s and %s end %s',
    (a, b, expected) => {
      const simulation = new Simulation({ seed: 7 });
      const nodes = [simulation.add('a', a), simulation.add('b', b)] as const;
      for (const node of nodes) simulation.start(node);
      simulation.run(180_000);
      const [one, two] = nodes;
      const found = [simulation.status(one, two).path, simulation.status(two, one).path];
      if (expected === 'either') expect(found[0]).toBe(found[1]);
      else expect(found).toEqual([expected, expected]);
    },
  );
});
