import { expect, test } from 'vitest';
import { webToDb } from '../../llm/model/model-answer.testkit.ts';
import { scriptedModel } from '../../llm/model/scripted-model.testkit.ts';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { webAndDatabase } from '../kits/http/network-setup.ts';
import { reading } from '../kits/http/read-events.ts';

const LOOSE = 'our storefronts ought to speak postgres with whatever keeps the orders';
const PLAIN = 'only the web servers may reach the database on port 5432';

async function follow(
  { url }: Harness,
  { token, workspace }: { token: string; workspace: string },
  body: object,
  accept = 'text/event-stream',
) {
  const headers = { accept, 'content-type': 'application/json', authorization: `Bearer ${token}` };
  const request = { method: 'POST', headers, body: JSON.stringify({ workspace_id: workspace, ...body }) };
  return fetch(`${url}/api/v1/ai/intent/plan`, request);
}

async function allOf(response: Response) {
  const stream = reading(response);
  const events: { event: string | undefined; data: Record<string, unknown> }[] = [];
  for (let event = await stream.next(); event; event = await stream.next()) events.push(event);
  return {
    told: events.map(({ event, data }) => (event === 'stage' ? data['text'] : event)),
    last: events.at(-1)?.data ?? {},
  };
}

test('a plan can be followed stage by stage, and ends with the answer that it has without events', async () => {
  await using model = await scriptedModel(({ body }) => (body.tools ? JSON.stringify(webToDb()) : 'It lets web in.'), {
    modes: ['tool'],
  });
  await using harness = await startHarness({ env: { MESH_LLM_BASE_URL: model.baseURL, MESH_LLM_MODEL: 'm' } });
  const own = await webAndDatabase(harness);

  const response = await follow(harness, own, { intent: LOOSE });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const { told, last } = await allOf(response);
  expect(told).toEqual([
    'Reading the sentence',
    'Asking a model, because the built-in reader does not read the sentence',
    'Computing the effect and comparing it with the orders',
    'Asking a model for words',
    'answer',
  ]);
  expect(last).toMatchObject({ check: 'not checked', changes: [{ name: 'only-to-db' }] });

  const plain = await follow(harness, own, { intent: PLAIN, dry_run: true }, 'application/json');
  expect(Object.keys((await plain.json()) as object)).toEqual(Object.keys(last));
});

test('what is refused before the first stage is a problem as always, and later an event with the same', async () => {
  await using model = await scriptedModel(() => ({ status: 500 }));
  await using harness = await startHarness({ env: { MESH_LLM_BASE_URL: model.baseURL, MESH_LLM_MODEL: 'm' } });
  const own = await webAndDatabase(harness);
  const refused = await follow(harness, own, { intent: '' });
  expect([refused.status, refused.headers.get('content-type')]).toEqual([400, expect.stringContaining('problem+json')]);

  const { told, last } = await allOf(await follow(harness, own, { intent: LOOSE }));
  expect(told.at(-1)).toBe('problem');
  expect(last).toMatchObject({ code: 'intent_not_understood', status: 422, warnings: [expect.any(String)] });
  expect(last['requestId']).toEqual(expect.any(String));
});

test('a plan that a computing thread makes tells that and its answer', async () => {
  await using harness = await startHarness();
  const own = await webAndDatabase(harness);
  const { told, last } = await allOf(await follow(harness, own, { intent: PLAIN }));
  expect(told).toEqual(['Computing', 'answer']);
  expect(last['plan_id']).toMatch(/^plan_/);
});
