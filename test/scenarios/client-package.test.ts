import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'oxc-parser';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harness, startHarness } from '../kits/http/harness.ts';
import { apiToken, webAndDatabase } from '../kits/http/network-setup.ts';
import { type InstalledPackage, installPackage } from '../kits/process/installed-package.ts';
import { blocksOf } from '../kits/process/page-blocks.ts';

const PACKING_MS = 180_000;
const [EXAMPLE, EVENTS] = blocksOf('packages/client/README.md').filter(({ language }) => language === 'js');
const POLICY = {
  name: 'db-alone',
  spec: { action: 'DENY', peerSelector: { matchLabels: { role: 'db' } }, ingress: [{}] },
};

let installed: InstalledPackage;
let harness: Harness;
let admin: Awaited<ReturnType<typeof webAndDatabase>>;
let env: Record<string, string>;

beforeAll(async () => {
  installed = installPackage('client');
  harness = await startHarness();
  admin = await webAndDatabase(harness);
  env = { MESH_SERVER: harness.url, MESH_TOKEN: await apiToken(harness, admin) };
}, PACKING_MS);
afterAll(async () => {
  installed[Symbol.dispose]();
  await harness[Symbol.asyncDispose]();
});

/** Runs a program that has a client, and reads what it tells. */
async function told(program: string, more: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const head = `
    import { createClient, MeshProblem } from '@scope/mesh-client';
    const { MESH_SERVER: url, MESH_TOKEN: token, WORKSPACE: workspace } = process.env;
    const mesh = createClient({ url, token, workspace });
    const tell = (value) => console.log(JSON.stringify(value));`;
  const { stdout, stderr } = await installed.run(`${head}\n${program}`, { env: { ...env, ...more } });
  expect(stderr).toBe('');
  return JSON.parse(stdout);
}

describe('the package of the client', () => {
  test('is one module that imports nothing, with its license and those of what is built in', () => {
    const folder = path.join(installed.modules, '@scope/mesh-client');
    const code = readFileSync(path.join(folder, 'dist/index.js'), 'utf8');
    const { staticImports, dynamicImports } = parseSync('index.js', code).module;
    expect([staticImports, dynamicImports, code.length < 30_000]).toEqual([[], [], true]);
    expect(installed.dependencies()).toEqual(['mesh-client']);
    expect(readFileSync(path.join(folder, 'LICENSE'), 'utf8')).toContain('Apache License');
    const terms = readFileSync(path.join(folder, 'dist/licenses.md'), 'utf8');
    expect([...terms.matchAll(/^## (\S+) - [\d.]+ \(MIT\)$/gm)].map(([, name]) => name)).toEqual([
      'eventsource-parser',
      'openapi-fetch',
      'openapi-typescript-helpers',
    ]);
  });

  test('type-checks a program by its declarations alone, and refuses one that uses it wrongly', async () => {
    const head = `import { createClient, type MeshClient, MeshProblem, type Schemas } from '@scope/mesh-client';
      const mesh: MeshClient = createClient({ url: 'http://localhost', token: '' });`;
    const right = `${head}
      for await (const { name, labels } of mesh.all('/api/v1/peers', { params: { query: { limit: 2 } } })) {
        const found: [string, Record<string, string> | undefined] = [name, labels];
        found.join();
      }
      const planned = await mesh.POST('/api/v1/ai/intent/plan', { body: { intent: 'let a reach b' } });
      const id: string = 'plan_id' in planned ? planned.plan_id : planned.workflow_id;
      const peer: Schemas['Problem'] | undefined = undefined;
      for await (const event of mesh.events({ lastEventId: id })) {
        const revision: number | undefined = event.event === 'change' ? event.data.revision : undefined;
        if (revision) break;
      }
      export const code = (error: unknown) => (error instanceof MeshProblem ? error.code : peer);`;
    const wrong = [
      `await mesh.GET('/api/v1/no-such-path')`,
      `await mesh.GET('/api/v1/connectivity/check', { params: { query: { port: 'https' } } })`,
      `(await mesh.GET('/api/v1/peers')).itms`,
      `mesh.all('/api/v1/connectivity/summary')`,
      `await mesh.POST('/api/v1/workspaces/add', { body: { slug: 'lab' } })`,
    ].map((line) => `// @ts-expect-error\n${line};`);
    expect(await installed.checkTypes([right, ...wrong].join('\n'))).toMatchObject({ code: 0, stdout: '' });
  });

  test('runs the programs of its README', async () => {
    const { stdout, stderr, code } = await installed.run(EXAMPLE?.text ?? '', { env });
    expect({ stdout, stderr, code }).toEqual({
      stdout: expect.stringMatching(/^db-1\nlaptop\nweb-1\nweb-2\nnot_found .*nowhere/),
      stderr: '',
      code: 0,
    });
    const program = EVENTS?.text.replace('60_000', '1') ?? '';
    expect(await told(`${program} tell('ended');`)).toBe('ended');
  });

  test('reads a list to its end, page by page', async () => {
    const program = `
      const pages = [];
      const fetched = globalThis.fetch;
      globalThis.fetch = (request) => (pages.push(new URL(request.url).search), fetched(request));
      const names = [];
      const paged = createClient({ url, token, workspace });
      for await (const { name } of paged.all('/api/v1/peers', { params: { query: { limit: 3 } } })) names.push(name);
      tell({ names, pages: pages.length });`;
    expect(await told(program)).toEqual({ names: ['db-1', 'laptop', 'web-1', 'web-2'], pages: 2 });
  });

  test('plans a change, and tells what it closes', async () => {
    const body = { intent: 'only role=web may reach role=db on port 5432' };
    const { closed } = (await told(`
      const { effect } = await mesh.POST('/api/v1/ai/intent/plan', { body: ${JSON.stringify(body)} });
      tell({ closed: effect.closed.map(({ src, dst }) => src + ' ' + dst) });`)) as { closed: string[] };
    expect(closed).toContain('laptop db-1');
  });

  test('throws every refusal as a problem, and one where nothing answers', async () => {
    const failed = (call: string) =>
      `await ${call}.catch((error) => ({ ...error, isOwn: error instanceof MeshProblem }))`;
    const [notFound, invalid, nobody, nothing] = (await told(
      `tell([
      ${failed(`mesh.GET('/api/v1/peers/{id}', { params: { path: { id: 'nobody' } } })`)},
      ${failed(`mesh.POST('/api/v1/policies', { body: { name: 'x', spec: { action: 'MAYBE' } } })`)},
      ${failed(`createClient({ url, token: 'none' }).GET('/api/v1/peers')`)},
      ${failed(`createClient({ url: 'http://127.0.0.1:1', token }).GET('/api/v1/peers')`)},
    ]);`,
      { MESH_TOKEN: admin.token, WORKSPACE: admin.workspace },
    )) as object[];
    expect(notFound).toMatchObject({
      isOwn: true,
      code: 'not_found',
      status: 404,
      detail: expect.stringContaining('nobody'),
    });
    const action = { pointer: '/spec/action', detail: 'action is ALLOW or DENY' };
    expect(invalid).toMatchObject({ isOwn: true, code: 'invalid_input', errors: expect.arrayContaining([action]) });
    expect(nobody).toMatchObject({ isOwn: true, code: 'unauthenticated', status: 401, requestId: expect.any(String) });
    expect(nothing).toMatchObject({ isOwn: true, code: 'unreachable', status: 0 });
  });

  test('calls in the workspace that it is given, and needs one where the token has several', async () => {
    const other = await harness.workspace('lab');
    const both = { MESH_TOKEN: other.token };
    const peers = `tell(await mesh.GET('/api/v1/peers').then(({ items }) => items.length, ({ code }) => code));`;
    expect(await told(peers, { ...both, WORKSPACE: 'lab' })).toBe(0);
    expect(await told(peers, { ...both, WORKSPACE: 'prod' })).toBe(4);
  });

  test('follows changes across connections that are cut, after the last event that came, until it is aborted', async () => {
    const bodies = ['second', 'third'].map((name) => JSON.stringify({ ...POLICY, name }));
    const { revision } = (await created('first')).body;
    // Each connection breaks before the next change is made.
    const program = `
      const fetched = globalThis.fetch;
      const asked = [];
      let cut;
      globalThis.fetch = (address, init) => {
        const line = new AbortController();
        cut = () => line.abort();
        asked.push(init.headers.get('last-event-id'));
        return fetched(address, { ...init, signal: AbortSignal.any([init.signal, line.signal]) });
      };
      const headers = { authorization: 'Bearer ' + token, 'x-workspace-id': workspace, 'content-type': 'application/json' };
      const stop = new AbortController();
      const names = [];
      const bodies = ${JSON.stringify(bodies)};
      for await (const { event, data } of mesh.events({ signal: stop.signal, lastEventId: '${revision - 1}' })) {
        names.push(event + ' ' + data.changes.map(({ name }) => name).join());
        const body = bodies.shift();
        cut();
        if (body === undefined) stop.abort();
        else await fetched(url + '/api/v1/policies', { method: 'POST', body, headers });
      }
      tell({ names, asked });`;
    const seen = await told(program, { MESH_TOKEN: admin.token, WORKSPACE: admin.workspace });
    expect(seen).toEqual({
      names: ['change first', 'change second', 'change third'],
      asked: [revision - 1, revision, expect.anything()].map((id) => (typeof id === 'number' ? String(id) : id)),
    });
  });

  test('tells that changes were missed, where it lost the connection before an event or the history is another', async () => {
    const first = `(async () => { for await (const event of mesh.events(options)) return event; })()`;
    const cutOnce = `
      const options = {};
      const fetched = globalThis.fetch;
      let isFirst = true;
      globalThis.fetch = async (address, init) => {
        const line = new AbortController();
        const response = await fetched(address, { ...init, signal: AbortSignal.any([init.signal, line.signal]) });
        if (isFirst) line.abort();
        isFirst = false;
        return response;
      };`;
    for (const begin of [cutOnce, `const options = { lastEventId: '999999999' };`])
      expect(await told(`${begin} tell(await ${first});`), begin).toEqual({ event: 'reset', id: '' });
  });

  test('ends with a problem when its token is revoked', async () => {
    const { body } = await harness.api('POST', '/api/v1/users/me/api-tokens', { ...admin, body: { name: 'short' } });
    const { revision } = (await created('fourth')).body;
    const program = `
      const person = createClient({ url, token: process.env.PERSON, workspace: '${admin.workspace}' });
      const params = { path: { id: '${body.id}' } };
      try {
        for await (const { id } of mesh.events({ lastEventId: '${revision - 1}' }))
          await person.DELETE('/api/v1/users/me/api-tokens/{id}', { params });
      } catch ({ name, code, status }) { tell({ name, code, status }); }`;
    const ended = await told(program, { MESH_TOKEN: body.token, PERSON: admin.token });
    expect(ended).toEqual({ name: 'MeshProblem', code: 'unauthenticated', status: 200 });
  });

  test('ends with a problem where the token may not read events', async () => {
    const token = await apiToken(harness, admin, ['audit:read']);
    const program = `
      try { for await (const event of mesh.events()) tell(event); } catch ({ name, code }) { tell({ name, code }); }`;
    expect(await told(program, { MESH_TOKEN: token })).toEqual({ name: 'MeshProblem', code: 'forbidden' });
  });

  const created = (name: string) => harness.api('POST', '/api/v1/policies', { ...admin, body: { ...POLICY, name } });
});
