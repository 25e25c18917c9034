import { expect, test } from 'vitest';
import type { CallContext } from '../core/base/operation.ts';
import type { Kind } from '../core/base/record.ts';
import { runExpecting } from '../core/state/expecting.ts';
import type { Services } from '../core/workflow/services.ts';
import { answersRecord } from '../rest/entity-tags.ts';
import { operations } from '../tools/index.ts';
import { parseYaml } from '../tools/yaml.ts';
import { buildScene } from './authority/scene.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { type Kit, person } from './kits/plane/kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';

const DENY = { action: 'DENY', peerSelector: {} };
const only = (role: string) => ({ action: 'DENY', peerSelector: { matchLabels: { role } } });

async function openPlane() {
  const faces = await startFaces();
  const { kit } = faces;
  const workspace = await kit.workspace('prod');
  const ada = person('admin', workspace, 'ada');
  faces.callers.set('ada', ada);
  await seedPeers(kit.services, workspace, { 'web-1': { role: 'web' }, 'db-1': { role: 'db' } });
  // biome-ignore lint/suspicious/noExplicitAny: each test knows the answer of the operation it names.
  const call = (name: string, raw: object = {}): Promise<any> => kit.call(name, { ...raw }, { as: ada, workspace });
  await call('create_policy', { name: 'base', spec: DENY });
  await call('create_network', { name: 'lab', spec: { cidr: '10.97.0.0/24' } });
  await call('create_agent', { name: 'planner' });
  return {
    kit,
    workspace,
    call,
    send: (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
      faces.send(`/api/v1${path}`, 'ada', {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    [Symbol.asyncDispose]: () => faces[Symbol.asyncDispose](),
  };
}

/** Changes a record in a way that nothing but its revision tells. */
async function touch({ services }: Pick<Kit, 'services'>, workspace: string, kind: Kind, name: string): Promise<void> {
  const record = await services.store.get(workspace, { kind, name });
  if (!record) throw new Error(`There is no ${name}.`);
  const op = { op: 'update', record: { ...record, annotations: { note: 'new' } }, revision: record.revision } as const;
  await services.store.commit(workspace, [op], { actor: 'user:test', reason: 'test', requestId: 'r_test' });
}

test('an update with the ETag of what was read is refused with 412 once somebody else has changed it', async () => {
  await using plane = await openPlane();
  const read = await plane.send('GET', '/policies/base');
  const tag = read.headers.get('etag') ?? '';
  const { id, revision } = (await read.json()) as { id: string; revision: number };
  expect(tag).toBe(`"${id}.${revision}"`);
  const mine = await plane.send('PUT', '/policies/base', { 'if-match': tag }, { spec: only('web') });
  expect(mine.status).toBe(200);
  const late = await plane.send('PUT', '/policies/base', { 'if-match': tag }, { spec: only('db') });
  expect([late.status, await late.json()]).toMatchObject([412, { code: 'precondition_failed' }]);
  expect((await plane.call('get_policy', { id: 'base' })).spec).toMatchObject(only('web'));
  const gone = await plane.send('DELETE', '/policies/base', { 'if-match': tag });
  expect(gone.status).toBe(412);
});

test('If-Match takes "*", one of several tags and no weak one; where it guards nothing it is refused', async () => {
  await using plane = await openPlane();
  const tag = (await plane.send('GET', '/peers/web-1')).headers.get('etag') ?? '';
  const patch = async (ifMatch: string, role: string) =>
    (await plane.send('PATCH', '/peers/web-1', { 'if-match': ifMatch }, { labels: { role } })).status;
  expect(await patch(`W/${tag}`, 'a')).toBe(412);
  expect(await patch('web-1', 'a')).toBe(400);
  expect(await patch(`"other.1", ${tag}`, 'a')).toBe(200);
  expect(await patch(tag, 'b')).toBe(412);
  expect(await patch('*', 'b')).toBe(200);
  const nothing = await plane.send('POST', '/policies', { 'if-match': '*' }, { name: 'new', spec: DENY });
  expect(nothing.status).toBe(400);
  const absent = await plane.send('DELETE', '/policies/absent', { 'if-match': '*' });
  expect(absent.status).toBe(404);
});

test.each([
  ['update_policy', 'get_policy', { id: 'base', spec: DENY }],
  ['delete_policy', 'get_policy', { id: 'base' }],
  ['update_network', 'get_network', { id: 'lab', spec: { cidr: '10.97.0.0/24', mtu: 1300 } }],
  ['delete_network', 'get_network', { id: 'lab' }],
  ['update_peer', 'get_peer', { id: 'web-1', name: 'web-2' }],
  ['update_peer', 'get_peer', { id: 'web-1', labels: {} }],
  ['revoke_peer', 'get_peer', { id: 'web-1' }],
  ['delete_peer', 'get_peer', { id: 'web-1' }],
  ['update_assertion', 'get_assertion', { id: 'closed', src: 'db-1', dst: 'web-1', expect: 'unreachable' }],
  ['delete_assertion', 'get_assertion', { id: 'closed' }],
  ['revoke_agent', 'get_agent', { id: 'planner' }],
  ['revoke_agent', 'get_agent', { id: 'planner', dryRun: true }],
])('%s with a revision that has passed is a conflict; with the present one it is done', async (name, read, raw) => {
  await using plane = await openPlane();
  if (raw.id === 'closed') {
    await plane.call('create_assertion', { name: 'closed', src: 'web-1', dst: 'db-1', expect: 'unreachable' });
  }
  const { revision } = await plane.call(read, { id: raw.id });
  const before = await plane.kit.services.store.revision(plane.workspace);
  await expect(plane.call(name, { ...raw, revision: revision - 1 })).rejects.toMatchObject({
    code: 'conflict',
    details: { expected_revision: revision - 1, revision },
  });
  expect(await plane.kit.services.store.revision(plane.workspace)).toBe(before);
  await plane.call(name, { ...raw, revision });
});

test('a change that comes between the look at the record and the write is a conflict too, not a retry', async () => {
  await using plane = await openPlane();
  const { store } = plane.kit.services;
  const { revision } = await plane.call('get_peer', { id: 'web-1' });
  const { get } = store;
  // Another writes the same record just after it was looked at.
  Object.assign(store, {
    async get(...args: Parameters<typeof get>) {
      const seen = await get(...args);
      if (args[1].kind !== 'MeshPeer') return seen;
      Object.assign(store, { get });
      await touch(plane.kit, plane.workspace, 'MeshPeer', 'web-1');
      return seen;
    },
  });
  const mine = plane.call('update_peer', { id: 'web-1', name: 'web-2', revision });
  await expect(mine).rejects.toMatchObject({ code: 'conflict', details: { expected_revision: revision } });
  expect((await plane.call('get_peer', { id: 'web-1' })).name).toBe('web-1');
});

test('a peer named by its overlay address or in other letters is held to the revision as one named by its id', async () => {
  await using plane = await openPlane();
  const { id, status, revision } = await plane.call('get_peer', { id: 'web-1' });
  for (const name of [id, 'WEB-1', status.address]) {
    const stale = { id: name, revision: revision - 1 };
    await expect(plane.call('update_peer', { ...stale, labels: {} })).rejects.toMatchObject({ code: 'conflict' });
    await expect(plane.call('delete_peer', stale)).rejects.toMatchObject({ code: 'conflict' });
    const patch = await plane.send('PATCH', `/peers/${name}`, { 'if-match': '"p_none.1"' }, { labels: {} });
    expect([name, patch.status]).toEqual([name, 412]);
  }
  expect((await plane.call('get_peer', { id })).labels).toEqual({ role: 'web' });
  await plane.call('update_peer', { id: status.address, revision, labels: { role: 'db' } });
  expect((await plane.call('get_peer', { id })).labels).toEqual({ role: 'db' });
});

test('where the record of a named revision cannot be told, nothing is written', async () => {
  await using plane = await openPlane();
  const { services } = plane.kit;
  const context = {
    services,
    caller: person('admin', plane.workspace, 'ada'),
    workspace: plane.workspace,
    requestId: 'r_test',
    face: 'rest',
    origin: 'test',
    signal: AbortSignal.timeout(10_000),
  } as const;
  // An operation that finds a record where nobody else does.
  const operation = {
    addresses: 'MeshPolicy',
    run: ({ id }: { id: string }, { services: given }: CallContext<Services>) =>
      given.store.get(plane.workspace, { kind: 'MeshPolicy', name: id.replace('the-', '') }).then((record) =>
        given.store.commit(plane.workspace, record ? [{ op: 'delete', key: record, revision: record.revision }] : [], {
          actor: 'user:ada',
          reason: 'test',
          requestId: 'r_test',
        }),
      ),
  };
  await expect(runExpecting(operation as never, { id: 'the-base', revision: 1 }, context)).rejects.toMatchObject({
    code: 'conflict',
    details: { expected_revision: 1 },
  });
  expect((await plane.call('get_policy', { id: 'base' })).name).toBe('base');
});

test('what waits for approval is held to the revision when it is approved', async () => {
  await using scene = await buildScene({ requireApproval: true });
  const { ada, grace, kit, workspace } = scene;
  const policy = await scene.call(ada, 'get_policy', { id: 'base' });
  const peer = await scene.call(ada, 'get_peer', { id: 'web-1' });
  const asked = [
    await scene.call(ada, 'update_policy', { id: 'base', spec: only('db'), revision: policy.revision }),
    await scene.call(ada, 'delete_peer', { id: 'web-1', revision: peer.revision }),
  ];
  await touch(kit, workspace, 'MeshPolicy', 'base');
  await touch(kit, workspace, 'MeshPeer', 'web-1');
  for (const { workflow_id } of asked) {
    await scene.call(grace, 'approve_workflow', { id: workflow_id });
    const { status, error } = await scene.call(grace, 'get_workflow', { id: workflow_id });
    expect([status, error]).toEqual(['failed', expect.stringMatching(/has changed: it is at revision/)]);
  }
  const state = await scene.state();
  expect([state.policies.get('base')?.spec, state.peers.has('web-1')]).toMatchObject([DENY, true]);
});

test('a typed change of a plan names the revision that its author has seen', async () => {
  await using plane = await openPlane();
  const { revision } = await plane.call('get_policy', { id: 'base' });
  const plan = (seen: number | undefined, action = 'update') =>
    plane.call('plan_network_change', {
      intent: 'close web only',
      changes: [
        {
          action,
          resource: 'MeshPolicy',
          name: action === 'create' ? 'new' : 'base',
          spec: only('web'),
          ...(seen && { revision: seen }),
        },
      ],
    });
  await expect(plan(revision - 1)).rejects.toMatchObject({ code: 'conflict' });
  await expect(plan(revision, 'create')).rejects.toMatchObject({ code: 'invalid_input' });
  expect(await plan(revision)).toMatchObject({ changes: [{ action: 'update' }] });
});

test.each([
  ['peers', 'web-1'],
  ['policies', 'base'],
  ['networks', 'lab'],
])('%s come as YAML, one or a list, and /apply takes both back unchanged', async (path, name) => {
  await using plane = await openPlane();
  for (const at of [`/${path}`, `/${path}/${name}`]) {
    const answer = await plane.send('GET', at, { accept: 'application/yaml, application/json;q=0.5' });
    const yaml = await answer.text();
    expect(answer.headers.get('content-type')).toBe('application/yaml; charset=utf-8');
    const [document] = parseYaml(yaml) as [{ kind: string; metadata: object }];
    if (at === `/${path}`) expect(document).toMatchObject({ apiVersion: 'mesh.internal/v1alpha1', kind: 'List' });
    else expect(document.metadata).toMatchObject({ name, namespace: 'prod' });
    const { items } = await plane.call('apply_resources', { manifest: yaml });
    expect(new Set(items.map(({ result }: { result: string }) => result))).toEqual(new Set(['unchanged']));
  }
});

test('JSON stays the answer for everyone else, and a failure is a problem whatever is asked for', async () => {
  await using plane = await openPlane();
  for (const accept of ['*/*', 'application/json, application/yaml', 'application/yaml;q=0.1, */*', 'text/html']) {
    const answer = await plane.send('GET', '/policies/base', { accept });
    expect([accept, answer.headers.get('content-type')]).toEqual([accept, 'application/json; charset=utf-8']);
    expect(answer.headers.get('vary')).toContain('Accept');
  }
  const absent = await plane.send('GET', '/policies/absent', { accept: 'application/yaml' });
  expect(absent.headers.get('content-type')).toContain('application/problem+json');
});

test('whatever answers one record answers its ETag, which the next write may name', async () => {
  await using plane = await openPlane();
  const cases: [string, string, unknown][] = [
    ['PUT', '/policies/base', { spec: only('web') }],
    ['PUT', '/networks/lab', { spec: { cidr: '10.97.0.0/24', mtu: 1300 } }],
    ['PATCH', '/peers/web-1', { labels: { role: 'new' } }],
    ['PATCH', '/peers/web-1', { name: 'web-2' }],
    ['POST', '/peers/db-1/revoke', {}],
    ['GET', '/agents/planner', undefined],
  ];
  for (const [method, path, body] of cases) {
    const answer = await plane.send(method, path, {}, body);
    const { id, revision } = (await answer.json()) as { id: string; revision: number };
    expect([method, path, answer.headers.get('etag')]).toEqual([method, path, `"${id}.${revision}"`]);
  }
  const created = await plane.send('POST', '/policies', {}, { name: 'new', spec: DENY });
  const tag = created.headers.get('etag') ?? '';
  const next = await plane.send('PUT', '/policies/new', { 'if-match': tag }, { spec: only('web') });
  expect(next.status).toBe(200);
  const last = await plane.send('DELETE', '/policies/new', { 'if-match': next.headers.get('etag') ?? '' });
  expect([last.status, last.headers.get('etag')]).toEqual([200, null]);
});

test('every operation on one record that answers it is one whose answers have an ETag', () => {
  // What goes, and the new token and tree of an agent, are answers about a record and not the record.
  const others = ['delete_policy', 'delete_network', 'delete_peer', 'delete_assertion', 'revoke_agent'];
  const about = operations.filter(({ addresses }) => addresses !== undefined);
  expect(
    about
      .filter((operation) => !answersRecord(operation as never))
      .map(({ name }) => name)
      .sort(),
  ).toEqual(others.sort());
});

test('every operation that writes one resource by its path takes the revision of it, and every one that reads it gives an ETag', () => {
  const paths = /^\/api\/v1\/(?:peers|policies|networks|assertions|agents)\/:id(?:\/(?:approve|revoke|adopt|renew))?$/;
  const about = operations.filter(({ http }) => paths.test(http.path));
  expect(about.filter(({ addresses }) => addresses === undefined).map(({ name }) => name)).toEqual([]);
  const writing = about.filter(({ effects }) => !effects.readOnlyHint);
  expect(writing.filter(({ input }) => !('revision' in input.shape)).map(({ name }) => name)).toEqual([]);
  const declared = operations.filter(({ addresses }) => addresses !== undefined);
  expect(declared.filter(({ input }) => !('id' in input.shape)).map(({ name }) => name)).toEqual([]);
  expect(writing.length).toBeGreaterThan(10);
});
