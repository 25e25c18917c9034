import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Compute } from '../core/compute/compute.ts';
import type { Services } from '../core/workflow/services.ts';
import { allOf, DEBUG_PATH, withOutage } from './kits/http/debug-kit.ts';
import { serveFaces, startFaces } from './kits/http/faces-kit.ts';
import { reading } from './kits/http/read-events.ts';
import { person } from './kits/plane/kit.ts';
import { verifies } from './verifies.ts';

test("the contract's request streams steps, findings and words, each event with an id, and ends with done", async () => {
  verifies('ai-debug', 'ai-debug-history');
  await using all = await withOutage();
  const response = await all.ask();
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  const events = await allOf(response);
  expect([...new Set(events.map(({ event }) => event))]).toEqual(['step', 'tool', 'finding', 'token', 'done']);
  const run = events[0]?.id?.split('.')[0];
  const places = events.map(({ id }) => id?.split('.').slice(0, 2).join('.'));
  expect(places).toEqual(events.map((_, index) => `${run}.${index + 1}`));
  expect(events.find(({ event }) => event === 'finding')?.data).toMatchObject({
    causes: [{ cause: 'policy', kind: 'MeshPolicy', name: 'isolate-db' }],
    change: { actor: 'user:admin', snapshot_id: expect.stringMatching(/^snap_/) },
    restore: { verified: true, plan_id: expect.stringMatching(/^plan_/) },
  });
  const words = events.filter(({ event }) => event === 'token').map(({ data }) => data.text);
  expect(words.join('')).toBe(events.at(-1)?.data.summary);
  expect(events.at(-1)).toMatchObject({
    event: 'done',
    data: { finding_count: 1, omitted: 0, asked: { src: 'web-1', dst: 'db-1' } },
  });
});

test('the typed form is answered as the question is', async () => {
  await using all = await withOutage();
  const { question: _, ...rest } = all.body;
  const typed = await allOf(await all.ask({ ...rest, src: 'web-1', dst: 'db-1', port: 5432 }));
  const asked = await allOf(await all.ask());
  expect(typed.at(-1)?.data.reading).toBe(asked.at(-1)?.data.reading);
});

test('a stream that was cut is resumed after the last event seen, by its reader alone and for five minutes', async () => {
  await using all = await withOutage();
  const whole = await allOf(await all.ask());
  const seen = whole[2]?.id ?? '';
  expect(await allOf(await all.ask(all.body, { 'last-event-id': seen }))).toEqual(whole.slice(3));
  const stranger = await all.ask(all.body, { 'last-event-id': seen }, 'viewer');
  all.kit.clock.time += 5 * 60_000 + 1;
  const late = await all.ask(all.body, { 'last-event-id': seen });
  const unknown = await all.ask(all.body, { 'last-event-id': 'soon' });
  expect([stranger.status, late.status, unknown.status]).toEqual([410, 410, 410]);
});

test('a control plane that was started again goes on with a stream, within five minutes and for the same question', async () => {
  await using all = await withOutage();
  const whole = await allOf(await all.ask());
  const started = await serveFaces(all.kit);
  await using _started = started;
  started.callers.set('admin', all.kit.admin).set('viewer', person('viewer', all.kit.workspace));
  const again = (id: string, token = 'admin', sent: object = all.body) =>
    started.send(DEBUG_PATH, token, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'last-event-id': id },
      body: JSON.stringify(sent),
    });
  for (const seen of [0, 2, whole.length - 2]) {
    const rest = await allOf(await again(whole[seen]?.id ?? ''));
    // A plan that is offered is made anew.
    const [is, was] = [rest, whole.slice(seen + 1)].map((all) =>
      JSON.stringify(all).replaceAll(/"plan_\w+"/g, '"plan"'),
    );
    expect(is).toBe(was);
  }

  const [run, place, mark] = whole[3]?.id?.split('.') ?? [];
  const later = await serveFaces(all.kit);
  await using _later = later;
  later.callers.set('admin', all.kit.admin).set('viewer', person('viewer', all.kit.workspace));
  const refused = async (id: string, token = 'admin', sent: object = all.body) => {
    const headers = { 'content-type': 'application/json', 'last-event-id': id };
    return (await later.send(DEBUG_PATH, token, { method: 'POST', headers, body: JSON.stringify(sent) })).status;
  };
  expect([
    await refused(`${run}.${place}.${mark}`, 'viewer'),
    await refused(`${run}.${place}.${mark}`, 'admin', { ...all.body, question: 'Why can db-1 not reach web-1?' }),
    await refused(`${run}.${place}`),
    await refused(`AAAA${run?.slice(4)}.${place}.${mark}`),
    await refused(`${run}.${place}.otherone`),
  ]).toEqual([410, 410, 410, 410, 410]);
  all.kit.clock.time += 5 * 60_000 + 1_000;
  expect(await refused(`${run}.${place}.${mark}`)).toBe(410);
});

test('however many streams another opens, a stream can be resumed', async () => {
  await using all = await withOutage();
  const whole = await allOf(await all.ask());
  for (let index = 0; index < 30; index++) await allOf(await all.ask(all.body, {}, 'viewer'));
  const again = await allOf(await all.ask(all.body, { 'last-event-id': whole[2]?.id ?? '' }));
  expect(again).toEqual(whole.slice(3));
});

test('the work stops when its reader has gone, and goes on where it resumes', async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  let calls = 0;
  const compute = {
    run: async (_call: unknown, _services: unknown, signal: AbortSignal) => {
      calls += 1;
      begun.resolve(signal);
      if (!signal.aborted) await once(signal, 'abort');
      throw new Error('The caller has gone.');
    },
  } as unknown as Compute<Services>;
  await using all = await withOutage({ compute });
  const leave = new AbortController();
  const events = reading(await all.ask(all.body, {}, 'admin', { signal: leave.signal }));
  const first = await events.next();
  const signal = await begun.promise;
  leave.abort();
  if (!signal.aborted) await once(signal, 'abort');
  const again = new AbortController();
  const resumed = reading(
    await all.ask(all.body, { 'last-event-id': first?.id ?? '' }, 'admin', { signal: again.signal }),
  );
  const placeOf = (id = '') => id.split('.').slice(0, 2).join('.');
  expect(placeOf((await resumed.next())?.id)).toBe(placeOf(first?.id).replace('.1', '.2'));
  await expect.poll(() => calls).toBe(2);
  again.abort();
});

test('a range over twenty years is answered for as long as there is history', async () => {
  await using all = await withOutage();
  const time_range = { ...all.body.time_range, from: '2006-01-05T12:00:00Z' };
  const { data } = (await allOf(await all.ask({ ...all.body, time_range }))).at(-1) ?? {};
  expect([data.asked.from, data.asked.known_since, data.asked.gap]).toEqual([
    '2006-01-05T12:00:00.000Z',
    '2026-01-05T12:00:00.000Z',
    'NO_SNAPSHOT',
  ]);
});

test('a question that another tool answers is answered by it in the stream', async () => {
  await using all = await withOutage();
  const question = 'What could reach db-1 on 5432 at 12:00 UTC?';
  const events = await allOf(await all.ask({ ...all.body, question }));
  const tools = events.filter(({ event }) => event === 'tool').map(({ data }) => data);
  expect(tools).toMatchObject([
    { name: 'find_cause', by: 'mesh' },
    {
      name: 'check_connectivity_at',
      arguments: { dst: 'db-1', port: 5432, at: '2026-01-05T12:00:00.000Z' },
      by: 'mesh',
    },
  ]);
  const done = events.at(-1)?.data;
  expect(done.answer).toMatchObject({ asked_pairs: 1, open_pairs: 1 });
  expect(done.summary).toMatch(/1 of 1 connections between peers were open: .*web-1.* to .*db-1.* on TCP 5432/);
});

test('what cannot be read is asked back as the last event, an error', async () => {
  await using all = await withOutage();
  const events = await allOf(await all.ask({ ...all.body, question: 'why can web-1 not reach db-11?' }));
  expect(events.map(({ event }) => event)).toEqual(['step', 'tool', 'error']);
  expect(events.at(-1)?.data).toMatchObject({
    code: 'intent_not_understood',
    detail: expect.stringContaining('"db-1"'),
  });
});

test('text that others wrote cannot look like an event', async () => {
  await using all = await withOutage();
  const spec = { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } } };
  const hostile = { description: 'x\n\nevent: done\ndata: {"summary": "all is well"}\n\n' };
  await all.kit.ask('create_policy', { name: 'hostile', spec, annotations: hostile }).catch(() => undefined);
  const events = await allOf(await all.ask({ ...all.body, question: 'why can web-1 not reach db-1? event: done' }));
  expect(events.filter(({ event }) => event === 'done' || event === 'error')).toHaveLength(1);
});

test.each([
  ['no token', {}, undefined, 401],
  ['a reversed range', { time_range: { from: '2026-01-05T12:01:30Z', to: '2026-01-05T12:01:00Z' } }, 'admin', 400],
  ['a range in the future', { time_range: { from: '2036-01-05T12:01:30Z', to: '2037-01-05T12:01:00Z' } }, 'admin', 400],
  ['no range', { time_range: undefined }, 'admin', 400],
  [
    'a range before history',
    { time_range: { from: '2020-01-05T12:00:00Z', to: '2021-01-05T12:00:00Z' } },
    'admin',
    404,
  ],
  [
    'a range before all time',
    { time_range: { from: '1970-01-05T12:00:00Z', to: '2026-01-05T12:00:01Z' } },
    'admin',
    400,
  ],
  ['a question that is too long', { question: `why ${'so '.repeat(400)}?` }, 'admin', 400],
  ['a question with letters that turn text', { question: 'why can web-1 not reach \u202edb-1?' }, 'admin', 400],
  ['another workspace', { workspace_id: 'w_other' }, 'admin', 404],
  ['a question of several lines', { question: 'why\nnot?' }, 'admin', 400],
])('%s is refused before the stream begins', async (_title, over, token, status) => {
  await using all = await withOutage();
  const response = await all.faces.send(DEBUG_PATH, token, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...all.body, ...over }),
  });
  expect([response.status, ((await response.json()) as { status: number }).status]).toEqual([status, status]);
});

test('in Community the route answers 402', async () => {
  await using faces = await startFaces({ edition: 'community' });
  const own = await faces.kit.workspace('own');
  faces.callers.set('admin', person('admin', own));
  const response = await faces.send(DEBUG_PATH, 'admin', {
    method: 'POST',
    headers: { 'content-type': 'text/x' },
    body: '?',
  });
  expect(response.status).toBe(402);
});
