import { expect, test } from 'vitest';
import { type PathReport, ReportedPaths } from './reported-paths.ts';

const report = (peer: string, more: Partial<PathReport> = {}): PathReport => ({
  peer,
  transport: 'lrp-ready',
  path: 'relayed',
  reason: 'no-candidates',
  since: '2026-01-01T00:00:00.000Z',
  ...more,
});

test('the last report of a pair counts, and nodes of other workspaces are apart', () => {
  const paths = new ReportedPaths();
  const direct = report('p_b', { transport: 'ice-ready', path: 'direct', reason: 'direct' });
  paths.report('w1', 'p_a', [report('p_b'), report('p_c')]);
  paths.report('w1', 'p_a', [direct]);
  expect(paths.of('w1', 'p_a')).toEqual([report('p_c'), direct]);
  expect(paths.of('w2', 'p_a')).toEqual([]);
});

test('however much nodes report, it keeps the newest of a node and forgets the most silent nodes', () => {
  const paths = new ReportedPaths();
  for (let node = 0; node < 110; node += 1) {
    for (let part = 0; part < 5; part += 1) {
      const peers = Array.from({ length: 250 }, (_, index) => report(`p_${part}_${index}`));
      paths.report('w', `p_${node}`, peers);
    }
  }
  expect(paths.of('w', 'p_109')).toHaveLength(1_024);
  expect(paths.of('w', 'p_109').at(-1)?.peer).toBe('p_4_249');
  const kept = Array.from({ length: 110 }, (_, node) => paths.of('w', `p_${node}`).length);
  expect([kept[0], kept.filter((count) => count > 0).length]).toEqual([0, 97]);
});
