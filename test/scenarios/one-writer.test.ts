import { cpSync, linkSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { apiOf, configure, freshWorkspace } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'mesh-writer-'));
const database = path.join(directory, 'mesh.db');
let write: (name: string) => Promise<number>;

beforeAll(async () => {
  configure(directory);
  const running = startMeshd({ directory });
  const api = apiOf(await running.ready());
  const place = await freshWorkspace(api);
  write = async (name) => {
    const body = { name, spec: { action: 'DENY', peerSelector: {} } };
    return (await api('POST', '/api/v1/policies', { ...place, body })).status;
  };
  return async () => {
    running.child.kill('SIGKILL');
    await running.ended;
    rmSync(directory, { recursive: true, force: true });
  };
});

/** Without them it would be refused for want of the keys. */
function withTheKeys(): string {
  const elsewhere = freshDirectory();
  cpSync(path.join(directory, 'credentials.json'), path.join(elsewhere, 'credentials.json'));
  return elsewhere;
}

test.each<[string, () => { directory?: string; storeUrl?: string }]>([
  ['MESH_STORE_URL', () => ({ directory: withTheKeys(), storeUrl: `sqlite:${database}` })],
  [
    'a symbolic link',
    () => {
      symlinkSync(database, path.join(directory, 'symbolic.db'));
      return { directory: withTheKeys(), storeUrl: `sqlite:${directory}/symbolic.db` };
    },
  ],
  [
    'a hard link',
    () => {
      linkSync(database, path.join(directory, 'hard.db'));
      return { storeUrl: `sqlite:${directory}/hard.db` };
    },
  ],
  [
    'its own directory, the lock file of which was deleted',
    () => {
      for (const name of ['lock', 'lock-journal', 'meshd.pid']) rmSync(path.join(directory, name), { force: true });
      return { directory };
    },
  ],
])(
  'a second meshd that comes to the database of a running one by %s is refused, and the first goes on',
  async (how, arrive) => {
    const { directory: where = freshDirectory(), storeUrl } = arrive();
    if (where !== directory) onTestFinished(() => rmSync(where, { recursive: true, force: true }));
    const second = startMeshd({ directory: where, env: { ...(storeUrl && { MESH_STORE_URL: storeUrl }) } });
    onTestFinished(() => void second.child.kill('SIGKILL'));
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toMatch(/the database \S+\.db is in use: another meshd writes it/);
    expect(await write(how.replaceAll(/\W+/g, '-').toLowerCase())).toBe(201);
  },
);
