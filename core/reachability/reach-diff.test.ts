import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compile, createEngine } from './engine.ts';
import { type PairRow, pairRows } from './matrix.ts';
import { networkModel, textOf } from './models.testkit.ts';
import { type DiffRow, diff } from './reach-diff.ts';
import { base, dbPolicy, denyAll, webOut } from './two-peers.testkit.ts';

describe('diff', { timeout: 30_000 }, () => {
  test('applied to the matrix before it gives the matrix after', () => {
    fc.assert(
      fc.property(networkModel, networkModel, fc.boolean(), (a, b, share) => {
        const engine = createEngine();
        const before = engine.compile(a);
        const after = (share ? engine : createEngine()).compile(b);
        const rows = diff(before, after);
        expect(textOf(applyDiff(pairRows(before), rows))).toEqual(textOf(pairRows(after)));
        expect(new Set(rows.map(({ src, dst }) => `${src}>${dst}`)).size).toBe(rows.length);
      }),
      { numRuns: 200 },
    );
  });

  test('finds the same where only a part was edited as where everything is compared', () => {
    const edited = fc.tuple(networkModel, networkModel, fc.nat(), fc.nat()).map(([model, other, policies, peers]) => {
      const keptPolicies = model.policies.slice(0, policies % (model.policies.length + 1));
      const names = new Set(keptPolicies.map(({ name }) => name));
      const added = other.policies.filter(({ name }) => !names.has(name)).slice(0, 1);
      const place = peers % Math.max(1, model.peers.length);
      const relabelled = model.peers.map((peer, index) =>
        index === place ? { ...peer, labels: other.peers[0]?.labels ?? {} } : peer,
      );
      const changed = peers % 2 === 0 ? model.peers : relabelled;
      return [model, { ...model, peers: changed, policies: [...keptPolicies, ...added] }] as const;
    });
    fc.assert(
      fc.property(edited, ([a, b]) => {
        const engine = createEngine();
        const shared = diff(engine.compile(a), engine.compile(b));
        const keyOf = (row: (typeof shared)[number]) => JSON.stringify(row);
        expect(shared.map(keyOf).sort()).toEqual(diff(compile(a), compile(b)).map(keyOf).sort());
      }),
      { numRuns: 300 },
    );
  });

  test('of a state with itself is empty, also through another engine', () => {
    fc.assert(
      fc.property(networkModel, (model) => {
        expect(diff(compile(model), compile(model))).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test('says what was added, removed and changed, with old and new ports', () => {
    const before = compile({ ...base, policies: [dbPolicy(80)] });
    const after = compile({
      ...base,
      policies: [dbPolicy(443), { ...denyAll, spec: { ...denyAll.spec, egress: [] } }, webOut],
    });
    expect(diff(before, after)).toEqual([
      {
        type: 'changed',
        src: 'web',
        dst: 'db',
        old: [{ protocol: 'TCP', from: 80, to: 80 }],
        new: [{ protocol: 'TCP', from: 443, to: 443 }],
      },
      { type: 'removed', src: 'db', dst: 'web', old: 'ALL', new: [] },
    ]);
  });
});

/** Turns the matrix before into the matrix after. */
function applyDiff(before: Iterable<PairRow>, rows: readonly DiffRow[]): PairRow[] {
  const keyOf = (row: { src: string; dst: string }) => JSON.stringify([row.src, row.dst]);
  const matrix = new Map([...before].map((row) => [keyOf(row), row]));
  for (const row of rows) {
    if (row.type === 'removed') matrix.delete(keyOf(row));
    else matrix.set(keyOf(row), { src: row.src, dst: row.dst, allowed: row.new });
  }
  return [...matrix.values()];
}
