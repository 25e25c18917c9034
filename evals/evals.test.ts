import { beforeAll, describe, expect, it } from 'vitest';
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
const LEAST_EXACT = 0.9;
/** Of the clear intents of the blind set, which nobody worded for the grammar. */
const LEAST_CLEAR = 0.8;

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
  }, 120_000);

  it('never opens what the gold does not open', () => {
    expect([...trials, ...heldOut].filter(({ safe }) => !safe)).toEqual([]);
  });

  it('asks whenever it must ask, and refuses whenever it must refuse', () => {
    const must = trials.filter(({ gold }) => gold === 'ask' || gold === 'refuse');
    expect(must.filter(({ exact }) => !exact)).toEqual([]);
  });

  it.each(FAMILIES)('has exactly the effect of the gold in nine of ten intents of the family "%s"', (family) => {
    const mine = trials.filter((trial) => trial.family === family);
    const share = mine.filter(({ exact }) => exact).length / mine.length;
    expect(share).toBeGreaterThanOrEqual(LEAST_EXACT);
  });

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
        outcome: 'changes',
        changes: [
          {
            action: 'create',
            resource: 'MeshPolicy',
            name: 'open',
            spec: {
              action: 'ALLOW',
              peerSelector: { matchLabels: { role: 'web' } },
              ingress: [{ from: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }],
            },
          },
        ],
        expectations: [],
        summary: '',
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
  const isUnclear = ({ gold }: Pick<Trial, 'gold'>) => gold === 'ask' || gold === 'refuse';
  let trials: readonly Trial[];
  beforeAll(async () => {
    trials = await runEvals(builtinPlanner, BLIND, signal);
  }, 120_000);

  it('is asked 75 clear intents and 25 that must not be planned, on every network that it was written for', () => {
    const unclear = trials.filter(isUnclear).length;
    expect([trials.length - unclear, unclear]).toEqual([CLEAR, MUST_NOT]);
    expect(new Set(trials.map(({ network }) => network))).toEqual(
      new Set(['home', 'studio', 'hostile', 'office', 'plant']),
    );
  });

  it('opens nothing beyond the gold of a clear intent, and refuses whenever it must refuse', () => {
    const held = trials.filter((trial) => !isUnclear(trial) || trial.gold === 'refuse');
    expect(held.filter(({ safe, gold, exact }) => !safe || (gold === 'refuse' && !exact))).toEqual([]);
  });

  it('asks whenever it must ask, and plans no clear intent otherwise than its gold', () => {
    const asked = trials.filter(({ gold }) => gold === 'ask');
    expect(asked.filter(({ exact, safe }) => !exact || !safe)).toEqual([]);
    const clear = trials.filter((trial) => !isUnclear(trial));
    expect(clear.filter(({ outcome, exact }) => outcome === 'changes' && !exact)).toEqual([]);
  });

  it('has exactly the effect of the gold in eight of ten clear intents at once', () => {
    const clear = trials.filter((trial) => !isUnclear(trial));
    const share = clear.filter(({ exact }) => exact).length / clear.length;
    expect(share).toBeGreaterThanOrEqual(LEAST_CLEAR);
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
    exactByChoice: false,
    flaw: 'opened <b>too much</b>',
  };

  it('counts by family and over all', () => {
    const right = { ...trial, exact: true, safe: true, flaw: undefined };
    const row = { trials: 2, exact: 1, safe: 1, clear: [0, 0, 0], mustAsk: [0, 0], mustRefuse: [1, 2] };
    expect(rowsOf([trial, right])).toEqual([
      { family: 'deny', ...row },
      { family: 'all', ...row },
    ]);
  });

  it('counts a clear intent that was asked about as met by a choice only where that has exactly the effect of the gold', async () => {
    const asking = (choices: readonly string[]): Planner => ({
      name: 'asking',
      plan: async (question) =>
        question.intent === 'web and db'
          ? { outcome: 'refused', reason: 'unclear', questions: ['Which?'], choices: [...choices] }
          : builtinPlanner.plan(question),
    });
    const one: EvalCase = {
      family: 'deny',
      on: ['home'],
      says: ['web and db'],
      gold: { closes: ['web-1 > db-1 : tcp/5432'] },
    };
    const right = ['let web reach db', 'block web from db on 5432'];
    expect(await runEvals(asking(right), [one], signal)).toMatchObject([{ exact: false, exactByChoice: true }]);
    expect(await runEvals(asking(['block web from db']), [one], signal)).toMatchObject([{ exactByChoice: false }]);
    expect(await runEvals(asking(right), [{ ...one, gold: 'refuse' }], signal)).toMatchObject([
      { exact: true, exactByChoice: true },
    ]);
  });

  it('lists what failed, and an intent is text in it, not markup', () => {
    const markdown = markdownReport([{ title: 'One', trials: [trial] }]);
    expect(markdown).toContain(
      "- deny, home: `block &lt;script>alert(1)&lt;/script> / from 'db'` **unsafe**: opened &lt;b>too much&lt;/b>",
    );
  });
});
