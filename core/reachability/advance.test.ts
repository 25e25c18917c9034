import fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedEndpoints } from './changed-endpoints.ts';
import { createEngine } from './engine.ts';
import { pairRows } from './matrix.ts';
import type { NetworkModel } from './model.ts';
import { networkModel, textOf } from './models.testkit.ts';
import { diff } from './reach-diff.ts';

/** The same network with parts of another; bounds are given whole, as a step has to. */
function mixed(a: NetworkModel, b: NetworkModel, take: readonly boolean[], withPolicies: boolean): NetworkModel {
  const names = new Set([...a.peers, ...b.peers].map(({ name }) => name));
  const peers = [...names].flatMap((name, index) => {
    const from = take[index % take.length] ? b : a;
    return from.peers.find((peer) => peer.name === name) ?? [];
  });
  return { ...a, peers, policies: withPolicies ? b.policies : a.policies };
}

const takes = fc.array(fc.boolean(), { minLength: 1, maxLength: 7 });

test('a state that is advanced to answers as one that is compiled whole, and names who it touches', () => {
  let advanced = 0;
  fc.assert(
    fc.property(
      networkModel,
      networkModel,
      takes,
      fc.boolean(),
      fc.boolean(),
      (one, other, take, withPolicies, isTwice) => {
        const engine = createEngine();
        const { externals: _, ...a } = one;
        const models = [a, mixed(a, other, take, withPolicies)];
        if (isTwice)
          models.push(
            mixed(
              a,
              other,
              take.map((taken) => !taken),
              false,
            ),
          );
        let before = engine.compile(a);
        for (const [index, model] of models.entries()) {
          const names = new Set([...models.flatMap(({ peers }) => peers)].map(({ name }) => name));
          const after = engine.advance(before, {
            now: model.now,
            peers: new Map([...names].map((name) => [name, model.peers.find((peer) => peer.name === name)])),
            policies: index % 2 === 0 && model.policies === models[index - 1]?.policies ? undefined : model.policies,
            networks: model.networks,
            model: () => model,
          });
          if (after === undefined) return;
          advanced += 1;
          const whole = createEngine().compile(model);
          expect(textOf(pairRows(after))).toEqual(textOf(pairRows(whole)));
          for (const { name } of model.peers) {
            const sorted = ({ outbound, inbound }: ReturnType<typeof whole.neighbourhood>) =>
              [outbound, inbound].map((list) => list.map((row) => JSON.stringify(row)).sort());
            expect(sorted(after.neighbourhood(name))).toEqual(sorted(whole.neighbourhood(name)));
          }
          const rows = diff(before, after);
          expect(changedEndpoints(before, after)).toEqual(new Set(rows.flatMap(({ src, dst }) => [src, dst])));
          before = after;
        }
      },
    ),
    { numRuns: 1_000 },
  );
  expect(advanced).toBeGreaterThan(500);
}, 60_000);

test('of states that do not follow each other, the peers touched are those of which a pair differs', () => {
  fc.assert(
    fc.property(networkModel, networkModel, fc.boolean(), (a, b, share) => {
      const engine = createEngine();
      const before = engine.compile(a);
      const after = (share ? engine : createEngine()).compile(b);
      const rows = diff(before, after);
      expect(changedEndpoints(before, after)).toEqual(new Set(rows.flatMap(({ src, dst }) => [src, dst])));
    }),
    { numRuns: 200 },
  );
}, 30_000);
