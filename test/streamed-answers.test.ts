import { expect, test } from 'vitest';
import { MeshError } from '../core/base/errors.ts';
import { type Compute, JsonText } from '../core/compute/compute.ts';
import type { Services } from '../core/workflow/services.ts';
import { SNAPSHOT_PAGE } from '../tools/snapshots/get-snapshot.ts';
import { startFaces } from './kits/http/faces-kit.ts';
import { person } from './kits/plane/kit.ts';
import { seedPeers } from './kits/records/seed-peers.ts';

/** Enough for three pieces of an answer. */
const PEERS = 2_000;

type Run = Compute<Services>['run'];

async function scene(run?: Run) {
  const faces = await startFaces(run && { compute: { run } });
  const workspace = await faces.kit.workspace('prod', PEERS);
  const admin = person('admin', workspace);
  faces.callers.set('admin', admin);
  const snapshots = `/api/v1/workspaces/${workspace}/snapshots`;
  const take = () => faces.kit.call('take_snapshot', {}, { as: admin });
  return {
    ...faces,
    workspace,
    snapshots,
    take,
    get: (id: string, init?: RequestInit) => faces.send(`${snapshots}/${id}`, 'admin', init),
  };
}

const ROW = {
  ...{
    id: 'snap_1',
    captured_at: '2026-01-05T12:00:00.000Z',
    revision: 3,
    trigger_type: 'manual',
    triggered_by: 'user:a',
  },
  ...{ digest: 'd', size_bytes: 1, history_bytes: 1 },
};
const pageText = (page: object) => new JsonText(new TextEncoder().encode(JSON.stringify({ ...ROW, ...page })));

test('a snapshot of thousands of peers is one answer over REST and one resource over MCP, whole', async () => {
  await using faces = await scene();
  const names = Array.from({ length: PEERS }, (_, index) => [`web-${index}`, { role: 'web' }] as const);
  await seedPeers(faces.kit.services, faces.workspace, Object.fromEntries(names));
  const { id } = await faces.take();
  const response = await faces.get(id);
  expect([response.status, response.headers.get('content-length')]).toEqual([200, null]);
  const text = await response.text();
  expect(text.length).toBeGreaterThan(2 * SNAPSHOT_PAGE.rest);
  const snapshot = JSON.parse(text);
  expect(snapshot).toMatchObject({ id, trigger_type: 'manual', policies: [], networks: [{ kind: 'MeshNetwork' }] });
  expect(new Set(snapshot.peers.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).size).toBe(PEERS);
  expect(Object.keys(snapshot.presence)).toHaveLength(PEERS);
  expect(snapshot).not.toHaveProperty('next_cursor');

  const client = await faces.connect('admin');
  const { contents } = await client.readResource({ uri: `mesh://workspaces/${faces.workspace}/snapshots/${id}` });
  expect(JSON.parse((contents[0] as { text: string }).text)).toEqual(snapshot);
}, 20_000);

test('a computing thread makes one page after the other, and the client has them as one answer', async () => {
  const cursors: unknown[] = [];
  await using faces = await scene(async ({ raw }) => {
    cursors.push(raw['cursor']);
    return pageText(
      cursors.length < 3 ? { peers: [{ n: cursors.length }], next_cursor: `c${cursors.length}` } : { presence: {} },
    );
  });
  const response = await faces.get('snap_1');
  expect(await response.json()).toEqual({ ...ROW, peers: [{ n: 1 }, { n: 2 }], presence: {} });
  expect(cursors).toEqual([undefined, 'c1', 'c2']);
});

test('what fails at first is a problem, and what fails later cuts the connection', async () => {
  let calls = 0;
  await using faces = await scene(async () => {
    calls += 1;
    if (calls === 2) return pageText({ peers: [{ n: 1 }], next_cursor: 'c' });
    throw new MeshError('unavailable', 'No room.');
  });
  const refused = await faces.get('snap_1');
  expect([refused.status, await refused.json()]).toEqual([503, expect.objectContaining({ code: 'unavailable' })]);
  const cut = await faces.get('snap_1');
  expect(cut.status).toBe(200);
  await expect(cut.text()).rejects.toThrow();
});

test('a client that hangs up has no more pages made for it', async () => {
  const second = Promise.withResolvers<AbortSignal>();
  let calls = 0;
  await using faces = await scene((_call, _services, signal) => {
    calls += 1;
    if (calls === 1) return Promise.resolve(pageText({ peers: [{ n: 1 }], next_cursor: 'c' }));
    second.resolve(signal);
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new MeshError('unavailable', 'The caller has gone.')));
    });
  });
  const leaving = new AbortController();
  await faces.get('snap_1', { signal: leaving.signal });
  const signal = await second.promise;
  leaving.abort();
  await expect.poll(() => signal.aborted).toBe(true);
  expect(calls).toBe(2);
});

test('HEAD answers the head alone', async () => {
  await using faces = await scene();
  const { id } = await faces.take();
  const response = await faces.get(id, { method: 'HEAD' });
  expect([response.status, await response.text()]).toEqual([200, '']);
});
