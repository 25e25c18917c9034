import { expect, test } from 'vitest';
import { MeshError } from '../core/base/errors.ts';
import { SYSTEM_WORKSPACE } from '../core/base/ids.ts';
import { type Compute, type HeavyCall, JsonText } from '../core/compute/compute.ts';
import type { Services } from '../core/workflow/services.ts';
import { heavyOperations } from '../tools/heavy.ts';
import { operations } from '../tools/index.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { agent, person } from './kits/plane/kit.ts';

const MATRIX = '/api/v1/connectivity/matrix';
const jsonText = (value: unknown) => new JsonText(new TextEncoder().encode(JSON.stringify(value)));

async function facesOver(run: Compute<Services>['run']) {
  const faces = await startFaces({ compute: { run } });
  const workspace = await faces.kit.workspace('prod');
  faces.callers.set('admin', person('admin', workspace));
  return { ...faces, workspace };
}

test('every operation that says it is heavy is one that a computing thread has, and no other', () => {
  const heavy = operations.filter(({ cost }) => cost !== undefined).map(({ name }) => name);
  expect(heavyOperations.map(({ name }) => name).sort()).toEqual(heavy.sort());
});

test('where there is no room REST answers 503 with Retry-After, and MCP the same problem', async () => {
  await using faces = await facesOver(async () => {
    throw new MeshError('unavailable', 'Too many questions. Try again in 5 s.', { retryAfterSeconds: 5 });
  });
  const response = await faces.send(MATRIX, 'admin');
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await response.json()).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('Try again') });

  const client = await faces.connect('admin');
  const answer = await client.callTool({ name: 'check_connectivity', arguments: { src: 'a', dst: 'b' } });
  const [words, problem] = answer.content as { text: string }[];
  expect([answer.isError, words?.text]).toEqual([true, 'Unavailable: Too many questions. Try again in 5 s.']);
  expect(JSON.parse(problem?.text ?? '')).toMatchObject({ code: 'unavailable', status: 503, retryAfterSeconds: 5 });
});

test('a computed answer is sent as it is, and as structured content over MCP', async () => {
  const answer = { denied: true, explanation: 'so', allowed: [], blocked_by: [], would_fix: [] };
  const calls: HeavyCall[] = [];
  await using faces = await facesOver(async (call) => {
    calls.push(structuredClone(call));
    return jsonText(answer);
  });
  const response = await faces.send('/api/v1/connectivity/explain?src=a&dst=b&port=80', 'admin');
  expect([response.headers.get('content-type'), await response.json()]).toEqual([
    'application/json; charset=utf-8',
    answer,
  ]);
  const client = await faces.connect('admin');
  const told = await client.callTool({ name: 'explain_denial', arguments: { src: 'a', dst: 'b' } });
  expect(told.structuredContent).toEqual(answer);
  expect(calls[0]).toMatchObject({
    operation: 'explain_denial',
    raw: { src: 'a', dst: 'b', port: 80 },
    workspace: faces.workspace,
    caller: { id: 'u_admin', scopes: expect.arrayContaining(['network:read']) },
  });
});

test('an answer too long for a tool is refused there, with the way to have it', async () => {
  await using faces = await facesOver(async () => new JsonText(new Uint8Array(9 * 1024 * 1024).fill(0x20)));
  const client = await faces.connect('admin');
  const { isError, content } = await client.callTool({ name: 'explain_denial', arguments: { src: 'a', dst: 'b' } });
  const [words] = content as { text: string }[];
  expect([isError, words?.text]).toEqual([
    true,
    'Payload too large: The answer would be larger than 8 MB. Ask for less at once, or over REST.',
  ]);
});

test('a client that hangs up ends what is computed for it', async () => {
  const begun = Promise.withResolvers<AbortSignal>();
  await using faces = await facesOver((_call, _services, signal) => {
    begun.resolve(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new MeshError('unavailable', 'The caller has gone.')));
    });
  });
  const leaving = new AbortController();
  const asked = faces.send(MATRIX, 'admin', { signal: leaving.signal });
  asked.catch(() => undefined);
  const signal = await begun.promise;
  leaving.abort();
  await expect.poll(() => signal.aborted).toBe(true);
});

test('who has no right to ask does not reach a computing thread', async () => {
  await using faces = await facesOver(() => Promise.reject(new TypeError('It was computed.')));
  faces.callers.set('nobody', { ...person('viewer', faces.workspace), scopesIn: () => new Set() });
  const statuses = [faces.send(MATRIX, undefined), faces.send(MATRIX, 'nobody')];
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 403]);
});

test('what is computed for a caller is written as the caller may write', async () => {
  await using faces = await facesOver(async (_call, { store }) => {
    await store.commit(SYSTEM_WORKSPACE, [], { actor: 'agent:planner', reason: 'more', requestId: 'r' });
    return jsonText({});
  });
  faces.callers.set('planner', agent(['network:read'], faces.workspace));
  const response = await faces.send(MATRIX, 'planner');
  expect(await response.json()).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('own workspace') });
});
