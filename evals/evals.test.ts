import { beforeAll, describe, expect, it } from 'vitest';
import { API_VERSION } from '../core/base/record.ts';
import type { Planner } from '../core/intent/plan/planner.ts';
import { compile } from '../core/reachability/engine.ts';
import { naiveVerdict } from '../core/reachability/naive.testkit.ts';
import { modelOf } from '../core/state/network-model.ts';
import { builtinPlanner } from '../llm/grammar/builtin.ts';
import { EVAL_NOW, type EvalCase, FAMILIES } from './case.ts';
import { BLIND } from './cases/blind.ts';
import { HELD_OUT } from './cases/held-out.ts';
import { HELD_OUT_AGAIN } from './cases/held-out-again.ts';
import { CASES } from './cases.ts';
import { NETWORKS, stateOfNetwork } from './networks.ts';
import { markdownReport, rowsOf } from './report.ts';
import { runEvals, type Trial, trialsOf } from './score.ts';

const signal = new AbortController().signal;
const EVERYDAY = ['allow', 'deny', 'isolate', 'revoke', 'narrow', 'time-bound', 'groups', 'exclusions'] as const;
/** Share of the clear sentences of a family. */
const LEAST_EXACT = 0.95;
/** Clear sentences of the blind set, which nobody worded for the grammar. */
const LEAST_BLIND = 55;

const isUnclear = ({ gold }: Pick<Trial, 'gold'>) => gold === 'ask' || gold === 'refuse';
const isPlanned = ({ outcome }: Trial) => outcome !== 'asked' && outcome !== 'refused';

describe('the cases', () => {
  it('are at least 150, in every family, on networks of 5, 50 and 500 peers, in two wordings or more', () => {
    const sizes = Object.fromEntries(
      (['home', 'office', 'plant'] as const).map((name) => [name, Object.keys(NETWORKS[name].peers).length]),
    );
    expect(sizes).toEqual({ home: 5, office: 50, plant: 500 });
    expect(CASES.length).toBeGreaterThanOrEqual(150);
    expect(new Set(CASES.map(({ family }) => family))).toEqual(new Set(FAMILIES));
    const single = CASES.filter(({ says }) => says.length < 2).map(({ says }) => says);
    expect(single.length).toBeLessThanOrEqual(2);
  });

  it('ask nothing twice', () => {
    const asked = trialsOf([...CASES, ...HELD_OUT, ...HELD_OUT_AGAIN, ...BLIND]).map(({ one, network, says }) =>
      JSON.stringify([network, one.history, says]),
    );
    expect(asked.filter((question, index) => asked.indexOf(question) !== index)).toEqual([]);
  });

  it('stand on networks whose reachability is the one read pair by pair from the policies', () => {
    for (const name of ['home', 'studio', 'hostile', 'office'] as const) {
      const model = modelOf(stateOfNetwork(name), EVAL_NOW);
      const reach = compile(model);
      const peers = model.peers.map((one) => one.name).filter((_, index) => index % 3 === 0);
      for (const src of peers) {
        for (const dst of peers) {
          for (const port of [22, 5432, 6379]) {
            expect([name, src, dst, port, reach.verdict(src, dst, 'TCP', port)]).toEqual([
              name,
              src,
              dst,
              port,
              naiveVerdict(model, src, dst, 'TCP', port),
            ]);
          }
        }
      }
    }
  });
});

describe('the built-in planner', () => {
  let trials: readonly Trial[];
  let heldOut: readonly Trial[];
  beforeAll(async () => {
    trials = await runEvals(builtinPlanner, CASES, signal);
    heldOut = await runEvals(builtinPlanner, [...HELD_OUT, ...HELD_OUT_AGAIN], signal);
  }, 900_000);

  it('plans nothing otherwise than the gold, and opens nothing that it does not open', () => {
    const all = [...trials, ...heldOut];
    expect(all.filter((trial) => !trial.safe || (isPlanned(trial) && !trial.exact))).toEqual([]);
  });

  it('asks whenever it must ask, and refuses whenever it must refuse', () => {
    expect([...trials, ...heldOut].filter((trial) => isUnclear(trial) && !trial.exact)).toEqual([]);
  });

  it.each(EVERYDAY)(
    'has exactly the effect of the gold in 95 %% of the clear sentences of the family "%s"',
    (family) => {
      const clear = trials.filter((trial) => trial.family === family && !isUnclear(trial));
      const share = clear.filter(({ exact }) => exact).length / clear.length;
      expect(share).toBeGreaterThanOrEqual(LEAST_EXACT);
    },
  );

  it('is judged strictly: a plan that opens one port more is unsafe, one that opens one less is not exact', async () => {
    const [one] = CASES.filter(
      ({ gold }) => typeof gold === 'object' && gold.opens?.[0] === 'role=api > role=db : tcp/5432',
    );
    if (!one) throw new Error('the case has gone');
    const narrower: EvalCase = {
      ...one,
      says: ['let api reach db on 5432'],
      gold: { opens: ['role=api > role=db : tcp/5431'] },
    };
    const wider: EvalCase = {
      ...one,
      says: ['let api reach db on 5432'],
      gold: { opens: ['role=api > role=db : tcp/5432, tcp/5433'] },
    };
    expect(await runEvals(builtinPlanner, [narrower, wider], signal)).toMatchObject([
      { exact: false, safe: false },
      { exact: false, safe: true },
    ]);
  });

  it('is judged as strictly on addresses outside: half a range more is unsafe, half a range less is not exact', async () => {
    const opening = (range: string): EvalCase => ({
      family: 'allow',
      on: ['studio'],
      says: ['let 203.0.113.0/24 reach web-1 on 8443'],
      gold: { opens: [`${range} > web-1 : tcp/8443`] },
    });
    const ranges = ['203.0.113.0/24', '203.0.113.0/25', '203.0.112.0/23', 'anna-laptop'];
    expect(await runEvals(builtinPlanner, ranges.map(opening), signal)).toMatchObject([
      { exact: true, safe: true },
      { exact: false, safe: false },
      { exact: false, safe: true },
      { exact: false, safe: false },
    ]);
  });

  it('is judged unsafe where it opens to the whole world what the gold opens to every peer', async () => {
    const open: Planner = {
      name: 'open',
      plan: async () => ({
        outcome: 'orders',
        orders: [],
        documents: [
          {
            apiVersion: API_VERSION,
            kind: 'MeshPolicy',
            metadata: { name: 'open' },
            spec: {
              action: 'ALLOW',
              peerSelector: { matchLabels: { role: 'web' } },
              ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }],
            },
          },
        ],
      }),
    };
    const one: EvalCase = {
      family: 'allow',
      on: ['studio'],
      says: ['open web-1'],
      gold: { opens: ['* > web-1 : all'] },
    };
    const [trial] = await runEvals(open, [one], signal);
    expect(trial).toMatchObject({ safe: false });
  });
});

describe('the built-in planner on the blind set', () => {
  const [CLEAR, MUST_NOT] = [75, 25];
  let trials: readonly Trial[];
  beforeAll(async () => {
    trials = await runEvals(builtinPlanner, BLIND, signal);
  }, 900_000);

  it('is asked 75 clear intents and 25 that must not be planned, on every network that it was written for', () => {
    const unclear = trials.filter(isUnclear).length;
    expect([trials.length - unclear, unclear]).toEqual([CLEAR, MUST_NOT]);
    expect(new Set(trials.map(({ network }) => network))).toEqual(
      new Set(['home', 'studio', 'hostile', 'office', 'plant']),
    );
  });

  it('plans nothing otherwise than the gold, and asks or refuses whenever it must', () => {
    expect(trials.filter((trial) => !trial.safe || (isPlanned(trial) && !trial.exact))).toEqual([]);
    expect(trials.filter((trial) => isUnclear(trial) && !trial.exact)).toEqual([]);
  });

  it('has exactly the effect of the gold in 55 clear sentences', () => {
    const clear = trials.filter((trial) => !isUnclear(trial) && trial.gold !== 'undo');
    expect(clear.filter(({ exact }) => exact).length).toBeGreaterThanOrEqual(LEAST_BLIND);
  });
});

describe('the report', () => {
  const trial: Trial = {
    family: 'deny',
    network: 'home',
    history: [],
    says: 'block <script>alert(1)</script> | from `db`',
    gold: 'refuse',
    outcome: 'changes',
    exact: false,
    safe: false,
    flaw: 'opened <b>too much</b>',
  };

  it('counts by family and over all', () => {
    const right = { ...trial, exact: true, safe: true, flaw: undefined };
    const row = { trials: 2, exact: 1, safe: 1, clear: [0, 0], mustAsk: [0, 0], mustRefuse: [1, 2] };
    expect(rowsOf([trial, right])).toEqual([
      { family: 'deny', ...row },
      { family: 'all', ...row },
    ]);
  });

  it('lists what failed, and an intent is text in it, not markup', () => {
    const markdown = markdownReport([{ title: 'One', trials: [trial] }]);
    expect(markdown).toContain(
      "- deny, home: `block &lt;script>alert(1)&lt;/script> / from 'db'` **unsafe**: opened &lt;b>too much&lt;/b>",
    );
  });
});
