import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import { ADMIN_PASSWORD, apiOf, configure } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { ask, fill } from './network.ts';

/** `node test/releases/make.ts CHECKOUT VERSION` makes the fixture of a release, from a checkout of it with its packages. */

const [checkout, version] = process.argv.slice(2);
if (checkout === undefined || version === undefined) throw new Error('Give a checkout of the release and its version.');
const directory = freshDirectory();
configure(directory);
const meshd = startMeshd({ directory, command: [path.join(checkout, 'bin/meshd'), '--standalone'] });
const target = path.join(import.meta.dirname, version);
mkdirSync(target, { recursive: true });
try {
  const api = apiOf(await meshd.ready());
  const { place, instants, device } = await fill(api, await login(api));
  const { body: graph } = await api('GET', '/api/v1/devices/self/graph', { token: device });
  const asked = { device, graph, at: new Date().toISOString(), workspace: place.workspace, instants };
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

async function login(api: ReturnType<typeof apiOf>): Promise<string> {
  const body = { username: 'admin', password: ADMIN_PASSWORD };
  return (await api('POST', '/api/v1/users/login', { body })).body.data.token;
}
