import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { ADMIN_PASSWORD, apiOf, configure } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { filesIn, writeDirectory } from './directory.ts';
import { makeNodeDirectory } from './make-node-directory.ts';
import { ask, callOf, fill } from './network.ts';
import { leavePending, logIn } from './pending.ts';

/** Makes `mesh.db.gz`, `credentials.json`, `plane-directory.json.gz`, `answers.json.gz` and `node-directory.json.gz` in `target`. */
export async function makeStore(checkout: string, target: string): Promise<void> {
  const directory = freshDirectory();
  configure(directory);
  const meshd = startMeshd({ directory, command: [path.join(checkout, 'bin/meshd'), '--standalone'] });
  try {
    const url = await meshd.ready();
    const api = apiOf(url);
    const { place, instants, device } = await fill(
      api,
      await logIn(api, { username: 'admin', password: ADMIN_PASSWORD }),
    );
    const pending = await leavePending(api, place);
    await makeNodeDirectory({ checkout, target, url, api, place, token: pending.joinTokens.fresh });
    await callOf(api)('POST', `/api/v1/workspaces/${place.workspace}/snapshots`, { ...place, body: {} });
    // Until the snapshot that follows each change by itself is there too.
    await setTimeout(2_000);
    const { body: graph } = await api('GET', '/api/v1/devices/self/graph', { token: device });
    const at = new Date().toISOString();
    const asked = { device, graph, at, workspace: place.workspace, instants, pending };
    const answers = await ask(api, place, instants);
    writeFileSync(path.join(target, 'answers.json.gz'), gzipSync(JSON.stringify({ ...asked, answers }), { level: 9 }));
  } finally {
    await meshd.stop();
  }
  // In one file, without what is left of deleted pages.
  const packed = path.join(directory, 'packed.db');
  const database = new DatabaseSync(path.join(directory, 'mesh.db'));
  database.prepare('VACUUM INTO ?').run(packed);
  database.close();
  writeFileSync(path.join(target, 'mesh.db.gz'), gzipSync(readFileSync(packed), { level: 9 }));
  copyFileSync(path.join(directory, 'credentials.json'), path.join(target, 'credentials.json'));
  writeDirectory(path.join(target, 'plane-directory.json.gz'), filesIn(directory, BESIDE_THE_STORE));
  rmSync(directory, { recursive: true });
}

/** What a control plane keeps beside its store: the last time that it saw, and the newest entries of its audit logs. */
const BESIDE_THE_STORE = (name: string) => name === 'clock' || name.startsWith('log-heads/');
