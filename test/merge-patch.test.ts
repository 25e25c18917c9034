import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { openApiDocument } from '../rest/openapi.ts';
import { operations } from '../tools/index.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { person } from './kits/plane/kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';
import { walkSchema } from './walk-schema.ts';

const MERGE = 'application/merge-patch+json';
const patching = operations.filter(({ http }) => http.method === 'patch');

async function openPlane() {
  const faces = await startFaces();
  const { kit } = faces;
  const workspace = await kit.workspace('prod');
  faces.callers.set('ada', person('admin', workspace, 'ada'));
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web', old: 'yes' } });
  const patch = async (path: string, body: unknown, type = MERGE, headers: Record<string, string> = {}) => {
    const answer = await faces.send(`/api/v1${path}`, 'ada', {
      method: 'PATCH',
      headers: { 'content-type': type, ...headers },
      body: JSON.stringify(body),
    });
    // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the route it calls.
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as any };
  };
  return { patch, kit, workspace, [Symbol.asyncDispose]: () => faces[Symbol.asyncDispose]() };
}

test('a merge patch of labels adds, replaces and by null removes single ones; plain JSON replaces all of them', async () => {
  await using plane = await openPlane();
  const merged = await plane.patch('/peers/web-1', { labels: { env: 'prod', old: null, never: null } });
  expect([merged.status, merged.body.labels]).toEqual([200, { role: 'web', env: 'prod' }]);
  const none = await plane.patch('/peers/web-1', { labels: null }, `${MERGE}; charset=utf-8`);
  expect([none.status, none.body.labels]).toEqual([200, {}]);
  await plane.patch('/peers/web-1', { labels: { role: 'web' } });
  const replaced = await plane.patch('/peers/web-1', { labels: { env: 'prod' } }, 'application/json');
  expect(replaced.body.labels).toEqual({ env: 'prod' });
  const plain = await plane.patch('/peers/web-1', { labels: { env: null } }, 'application/json');
  expect([plain.status, plain.body.errors[0].pointer]).toEqual([400, '/labels/env']);
});

test('any sequence of merge patches leaves the labels that RFC 7396 says', async () => {
  await using plane = await openPlane();
  const patches = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('1', '2', null));
  let labels: Record<string, string> = { role: 'web', old: 'yes' };
  await fc.assert(
    fc.asyncProperty(patches, async (patch) => {
      // The pseudocode of RFC 7396, section 2, for a flat object.
      for (const [key, value] of Object.entries(patch)) {
        if (value === null) delete labels[key];
        else labels = { ...labels, [key]: value };
      }
      expect((await plane.patch('/peers/web-1', { labels: patch })).body.labels).toEqual(labels);
    }),
    { numRuns: 30 },
  );
});

test('a merge patch that is none is refused with the field named, and changes nothing', async () => {
  await using plane = await openPlane();
  for (const labels of ['role=web', ['web'], { role: { a: 'b' } }, { role: 7 }]) {
    const { status, body } = await plane.patch('/peers/web-1', { labels });
    expect([status, body.errors[0].pointer]).toEqual([400, expect.stringMatching(/^\/labels/)]);
  }
  expect((await plane.patch('/peers/absent', { labels: { a: null } })).status).toBe(404);
  const { body } = await plane.patch('/peers/web-1', { labels: {} });
  expect(body.labels).toEqual({ role: 'web', old: 'yes' });
});

test('a merge patch heeds If-Match', async () => {
  await using plane = await openPlane();
  const first = await plane.patch('/peers/web-1', { labels: { a: '1' } });
  const tag = first.headers.get('etag') ?? '';
  await plane.patch('/peers/web-1', { labels: { a: '2' } });
  expect((await plane.patch('/peers/web-1', { labels: { b: '1' } }, MERGE, { 'if-match': tag })).status).toBe(412);
});

test('settings of a workspace are merged by both types, and null takes one away', async () => {
  await using plane = await openPlane();
  const path = `/workspaces/${plane.workspace}`;
  for (const type of [MERGE, 'application/json']) {
    await plane.patch(path, { settings: { autoApprove: { maxRisk: 'low' }, timeZone: 'Europe/Zurich' } }, type);
    const { body } = await plane.patch(path, { settings: { autoApprove: null } }, type);
    expect(body.settings).toMatchObject({ timeZone: 'Europe/Zurich' });
    expect(body.settings).not.toHaveProperty('autoApprove');
  }
});

test.each(patching.map(({ name, http }) => [name, http.path] as const))(
  '%s takes two media types, says so in OpenAPI, and answers every other one with 415 and what it takes',
  async (name, path) => {
    await using plane = await openPlane();
    const place = path.replace('/api/v1', '').replaceAll(/:\w+/g, 'x');
    for (const type of ['application/json-patch+json', 'application/strategic-merge-patch+json', 'text/plain']) {
      const { status, headers, body } = await plane.patch(place, {}, type);
      expect([status, body.code, headers.get('accept-patch')]).toEqual([
        415,
        'unsupported_media_type',
        `application/json, ${MERGE}`,
      ]);
      expect(body.detail).toContain(MERGE);
    }
    const document = JSON.parse(JSON.stringify(openApiDocument(operations, '1')));
    const { requestBody } = document.paths[path.replaceAll(/:(\w+)/g, '{$1}')].patch;
    expect([name, Object.keys(requestBody.content)]).toEqual([name, ['application/json', MERGE]]);
  },
);

test('a patch type is no body of a POST', async () => {
  await using faces = await startFaces();
  const answer = await faces.send('/api/v1/users/login', 'ada', {
    method: 'POST',
    headers: { 'content-type': MERGE },
    body: '{}',
  });
  expect(answer.status).toBe(415);
});

test('every map that a PATCH takes is one that a merge patch is merged into', () => {
  for (const { name, input, maps = [] } of patching) {
    const found = [...walkSchema(input)].filter(({ schema }) => schema instanceof z.ZodRecord);
    expect([name, [...new Set(found.map(({ pointer }) => pointer))]]).toEqual([name, maps.map((map) => `/${map}`)]);
  }
});
