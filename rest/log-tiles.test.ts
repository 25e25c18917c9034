import { expect, test } from 'vitest';
import { openCheckpoint } from '../core/audit/checkpoint.ts';
import { noteKeysOf } from '../core/audit/keep-checkpoints.ts';
import { decodeBundle } from '../core/audit/tiles.ts';
import { GrowingTree, leafHash } from '../core/audit/tree.ts';
import { startFaces } from '../test/kits/http/faces-kit.ts';
import { agent, person } from '../test/kits/plane/kit.ts';

/** More than a tile. */
const ENTRIES = 300;

async function openLog() {
  const faces = await startFaces();
  const { kit } = faces;
  const [workspace, other] = [await kit.workspace('prod'), await kit.workspace('other')];
  faces.callers
    .set('auditor', person('auditor', workspace))
    .set('viewer', person('viewer', workspace))
    .set('root', person('platform_admin', workspace))
    .set('stranger', person('admin', other));
  const event = { type: 'login', actor: 'user:ada', result: 'ok' } as const;
  const { store } = kit.services;
  const size = await store.auditTree(workspace).size();
  await store.record(
    workspace,
    Array.from({ length: ENTRIES - size }, () => event),
  );
  const read = (path: string, bearer: string | undefined = 'auditor', log = workspace) =>
    faces.send(`/api/v1/audit/logs/${log}/${path}`, bearer, {});
  return { faces, kit, workspace, read, [Symbol.asyncDispose]: () => faces[Symbol.asyncDispose]() };
}

const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());

test('checkpoint, tiles and bundles of a log make up the root that it signed', async () => {
  await using log = await openLog();
  const checkpoint = await log.read('checkpoint');
  expect(checkpoint.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(checkpoint.headers.get('cache-control')).toBe('no-store');
  const keys = noteKeysOf(log.kit.services.keys.logs, log.workspace);
  const signed = openCheckpoint(await checkpoint.text(), keys) ?? expect.fail();
  expect(signed.size).toBe(ENTRIES);
  const growing = new GrowingTree();
  const rest = ENTRIES - 256;
  for (const [suffix, width] of [
    ['000', 256],
    [`001.p/${rest}`, rest],
  ] as const) {
    const [tile, bundle] = [await log.read(`tile/0/${suffix}`), await log.read(`tile/entries/${suffix}`)];
    for (const { headers } of [tile, bundle]) {
      expect(headers.get('content-type')).toBe('application/octet-stream');
      expect(headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    }
    const leaves = decodeBundle(await bytesOf(bundle), width) ?? expect.fail();
    expect(await bytesOf(tile)).toEqual(new Uint8Array(Buffer.concat(leaves.map(leafHash))));
    for (const leaf of leaves) growing.append(leafHash(leaf));
    if (width !== 256) continue;
    expect(await bytesOf(await log.read('tile/1/000.p/1'))).toEqual(new Uint8Array(growing.root()));
  }
  expect(Buffer.from(growing.root())).toEqual(signed.root);
});

test('the whole text of an entry is what list_audit shows, to the byte that was hashed', async () => {
  await using log = await openLog();
  const whole = await (await log.read('entry/299')).text();
  const [entry] = await log.kit.services.store.auditTree(log.workspace).entries(299, 1);
  expect(whole).toBe(entry);
});

test.each([
  'tile/0/001',
  'tile/0/001.p/45',
  'tile/0/002.p/1',
  'tile/1/000.p/2',
  'tile/2/000.p/1',
  'tile/0/0',
  'tile/entries/001',
  'entry/300',
  'entry/01',
  'tile/9/000',
  'nothing',
  '',
])('what the log does not have at %j is not found', async (path) => {
  await using log = await openLog();
  const answer = await log.read(path);
  expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([404, 'not_found']);
});

test('members read hashes, entries need audit:read, and nobody sees the log of others', async () => {
  await using log = await openLog();
  const paths = ['checkpoint', 'tile/0/000', 'tile/entries/000', 'entry/0'];
  const statuses = async (bearer: string | undefined, name = log.workspace) =>
    Promise.all(paths.map(async (path) => (await log.read(path, bearer, name)).status));
  log.faces.callers.set('agent', agent(['audit:read'], log.workspace));
  expect(await statuses('viewer')).toEqual([200, 200, 403, 403]);
  expect(await statuses('auditor')).toEqual([200, 200, 200, 200]);
  expect(await statuses('stranger')).toEqual([404, 404, 404, 404]);
  expect(await statuses('nobody')).toEqual([401, 401, 401, 401]);
  expect(await statuses('auditor', 'installation')).toEqual([404, 404, 404, 404]);
  expect((await log.read('checkpoint', 'root', 'installation')).status).toBe(200);
  expect((await log.read('checkpoint', 'root', 'w_system')).status).toBe(404);
  const posted = await log.faces.send(`/api/v1/audit/logs/${log.workspace}/checkpoint`, 'auditor', { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET']);
});
