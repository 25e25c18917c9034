import { expect, test } from 'vitest';
import { webToDb } from '../../llm/model/model-answer.testkit.ts';
import { scriptedModel } from '../../llm/model/scripted-model.testkit.ts';
import { startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';

const LOOSE = 'our storefronts ought to speak postgres with whatever keeps the orders';
const EXPECTED = [
  { src: 'role=web', dst: 'role=db', protocol: 'TCP', port: 5432, expect: 'allow' },
  { src: '*', dst: 'role=db', except: ['role=web'], protocol: 'TCP', port: 5432, expect: 'deny' },
];
const KEY = 'sk-kept-secret';

const ANSWER = JSON.stringify(webToDb());

test('a control plane with a model plans what the language does not read, counts it, and trusts none of it', async () => {
  await using model = await scriptedModel(({ body }) => (body.tools ? ANSWER : 'It lets **web** reach db.'), {
    modes: ['tool'],
  });
  await using harness = await startHarness({
    env: { MESH_LLM_BASE_URL: model.baseURL, MESH_LLM_MODEL: 'm', MESH_LLM_API_KEY: KEY },
  });
  const { token, workspace } = await webAndDatabase(harness, 'with-model');
  const plan = (more: object = {}) =>
    harness.api('POST', '/api/v1/ai/intent/plan', {
      token,
      body: { workspace_id: workspace, intent: LOOSE, dry_run: false, ...more },
    });

  const { status, body } = await plan();
  expect([status, body.verified, body.check]).toEqual([200, false, 'not checked']);
  expect(body.changes).toMatchObject([{ action: 'create', resource: 'MeshPolicy', name: 'only-to-db' }]);
  expect(body.diff_markdown).toContain('It lets \\*\\*web\\*\\* reach db.');
  expect((await plan({ expectations: EXPECTED })).body).toMatchObject({ verified: false, expectations_hold: true });

  const events = await harness.plane.services.store.audit(workspace, { type: 'event', limit: 10 });
  const call = { model: 'm', mode: 'tool', promptTokens: 100, completionTokens: 20 };
  // Each plan is worded.
  expect(events.flatMap(({ event }) => (event?.type === 'model_call' ? [event.detail] : []))).toMatchObject(
    Array.from({ length: 4 }, () => call),
  );
  const { text } = await harness.api('GET', '/metrics', { token });
  expect(text).toContain('mesh_llm_requests_total{mode="tool",outcome="answered"} 4');
  expect(text).toContain('mesh_llm_tokens_total{kind="prompt"} 400');
  expect(harness.log.join()).not.toContain(KEY);
  expect(harness.log.join()).not.toContain('storefronts');
});

test('a control plane whose model is away says so beside what the grammar asks, and still plans what needs none', async () => {
  await using model = await scriptedModel(() => ({ status: 500 }));
  await using harness = await startHarness({ env: { MESH_LLM_BASE_URL: model.baseURL, MESH_LLM_MODEL: 'm' } });
  const { token, workspace } = await webAndDatabase(harness, 'without-model');
  const plan = (intent: string) =>
    harness.api('POST', '/api/v1/ai/intent/plan', { token, body: { workspace_id: workspace, intent, dry_run: true } });
  const { status, body } = await plan(LOOSE);
  expect([status, body.code, body.warnings]).toEqual([
    422,
    'intent_not_understood',
    [expect.stringContaining('model')],
  ]);
  expect((await plan('let the web servers reach the database on port 5432')).status).toBe(200);
});
