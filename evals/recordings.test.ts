import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { draftOf } from '../core/base/record.ts';
import { linesOfText } from '../core/base/text.ts';
import { modelSays } from '../core/intent/plan/model-words.ts';
import { builtinPlanner } from '../llm/grammar/builtin.ts';
import { buildKit, type Kit, person } from '../test/kits/plane/kit.ts';
import { CASES } from './cases.ts';
import { type NetworkName, recordsOfNetwork } from './networks.ts';
import { parseRecording, player, recorder } from './recorded.ts';
import { runEvals } from './score.ts';
import { askedIn, scoredOf } from './score-recording.ts';

const folder = join(import.meta.dirname, 'recorded');
const live = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => [file, parseRecording(readFileSync(join(folder, file), 'utf8'))] as const);

/** Plans that are right, said by a model: its word alone. */
const WHENCE = { recordedAt: '2026-01-05T12:00:00.000Z', commit: 'abc1234', server: 'none', maxTokens: null, seed: 1 };
const right = recorder({
  name: 'right',
  async plan(question) {
    const answer = await builtinPlanner.plan(question);
    return answer.outcome === 'changes' ? { ...answer, selfAsserted: true, summary: modelSays('Done.') } : answer;
  },
});
const plain = CASES.filter(({ on, family }) => family === 'allow' && on.includes('studio')).slice(0, 3);
await runEvals(right.planner, plain, new AbortController().signal);
const recordings = [...live, ['right plans', right.recording({ ...WHENCE, intents: plain.length })] as const];

/** Everything that is proven carries itself out. */
const SELF_APPROVING = { settings: { autoApprove: { maxRisk: 'critical' } } };
const asAda = (workspace: string) => person('admin', workspace, 'ada');

describe.each(recordings)('what a model answered (%s)', (_file, recording) => {
  let kit: Kit;
  const workspaces = new Map<NetworkName, string>();
  beforeAll(async () => {
    kit = await buildKit({ planner: player(recording) });
    for (const name of new Set(askedIn(recording).map(({ network }) => network))) {
      const workspace = await kit.workspace();
      const ops = recordsOfNetwork(name).map((record) => ({ op: 'create' as const, record: draftOf(record) }));
      await kit.services.store.commit(workspace, ops, { actor: 'system:test', reason: 'seed', requestId: 'seed' });
      await kit.call('update_workspace', SELF_APPROVING, { as: asAda(workspace), workspace });
      workspaces.set(name, workspace);
    }
  }, 120_000);
  afterAll(() => kit[Symbol.asyncDispose]());

  it('was a plan, a refusal or nothing in time, and each can be scored', async () => {
    expect(recording.answers.length).toBeGreaterThan(0);
    expect(await scoredOf(recording)).toHaveLength(recording.answers.length);
  });

  it('is never proven, is shown with its whole effect, and waits for a person', async () => {
    for (const { one, network, says } of askedIn(recording)) {
      const workspace = workspaces.get(network);
      if (workspace === undefined) throw new Error(`no workspace of ${network}`);
      const plan = await kit
        .call(
          'plan_network_change',
          { intent: says, history: [...(one.history ?? [])] },
          { as: asAda(workspace), workspace },
        )
        .catch((error: { code: string }) => error);
      if (plan.code !== undefined) {
        // What shows nothing, or turns the direction of text, is refused before anything is read.
        const refused = linesOfText(says.length).safeParse(says).success ? 'intent_not_understood' : 'invalid_input';
        expect([says, plan.code]).toEqual([says, refused]);
        continue;
      }
      expect([says, plan.verified, plan.read_by]).toEqual([says, false, 'model']);
      expect(plan.check).toBe('not checked');
      const { opened, closed, opened_pairs: opens, closed_pairs: closes, omitted } = plan.effect;
      expect(opened.length + closed.length + omitted > 0).toBe(opens + closes > 0);
      expect(plan.diff_markdown).toContain('## Opens');
      expect(plan.reading).toMatch(/^The model says: /);
      const applied = await kit
        .call('apply_network_change', { plan_id: plan.plan_id }, { as: asAda(workspace), workspace, face: 'mcp' })
        .catch((error: { code: string }) => error);
      expect(['pending_approval', 'policy_assertion_failed', 'forbidden']).toContain(applied.status ?? applied.code);
    }
  }, 300_000);
});
