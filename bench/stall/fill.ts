import { loadConfig } from '../../bin/compose/config.ts';
import { startPlane } from '../../bin/compose/plane.ts';
import type { Log, Op } from '../../core/base/ports.ts';
import type { RecordDraft } from '../../core/base/record.ts';
import { ADMIN_PASSWORD, apiOf, configure, freshWorkspace, loginWithOwn } from '../../test/kits/http/harness.ts';
import { draft } from '../draft.ts';

/** Fills a directory with a workspace of so many peers, tokens for its callers, and snapshots: `<directory> <peers> <callers>`. */
const [directory = '', peers = '2000', callers = '8'] = process.argv.slice(2);
const PEERS = Number(peers);
const ROLES = 50;
const POLICIES = 100;
const BATCH = 500;
const OWN_PASSWORD = 'a password of my own 42';
const why = { actor: 'user:bench', reason: 'bench', requestId: 'bench' };

const listeners = {
  MESH_LISTEN: '127.0.0.1:0',
  MESH_BUS_LISTEN: 'off',
  MESH_RELAY_LISTEN: 'off',
  MESH_STUN_LISTEN: 'off',
};
const quiet: Log = { error: console.error, warn() {}, info() {}, debug() {} };
configure(directory);
const plane = await startPlane(loadConfig(listeners, directory), { log: quiet });
const { store } = plane.services;
const api = apiOf(plane.url);
const admin = await freshWorkspace(api, 'bench', 20_000);
const { workspace } = admin;

for (let from = 0; from < PEERS; from += BATCH) {
  const many = Array.from({ length: Math.min(BATCH, PEERS - from) }, (_, n) => [peer(from + n), presence(from + n)]);
  await create(many.flat());
}
await create(Array.from({ length: POLICIES }, (_, n) => policy(n)));
const first = await takeSnapshot();
await create([policy(POLICIES)]);
const second = await takeSnapshot();
for (let from = 0; from < PEERS; from += BATCH) await relabel(from, Math.min(from + BATCH, PEERS));
const third = await takeSnapshot();

const tokens: string[] = [];
for (let index = 0; index < Number(callers); index += 1) {
  const account = { username: `caller-${index}`, password: ADMIN_PASSWORD };
  await call('POST', '/users', account);
  await call('PUT', `/workspaces/${workspace}/members/${account.username}`, { role: 'admin' });
  tokens.push(await loginWithOwn(api, account.username, ADMIN_PASSWORD, OWN_PASSWORD));
}
const snapshots = [first, second, third];
process.send?.({ workspace, tokens, snapshots });
await plane.stop();
process.disconnect();

async function takeSnapshot(): Promise<string> {
  return (await call('POST', `/workspaces/${workspace}/snapshots`, {})).id;
}

async function call(method: string, route: string, body: unknown) {
  const answer = await api(method, `/api/v1${route}`, { token: admin.token, workspace, body });
  if (answer.status >= 300) throw new Error(answer.text);
  return answer.body;
}

async function create(records: readonly RecordDraft[]): Promise<void> {
  await store.commit(
    workspace,
    records.map((record) => ({ op: 'create', record })),
    why,
  );
}

async function relabel(from: number, to: number): Promise<void> {
  const ops: Op[] = [];
  for (let index = from; index < to; index += 1) {
    const found = await store.get(workspace, { kind: 'MeshPeer', name: `peer-${index}` });
    if (!found) throw new Error(`no peer-${index}`);
    const labels = { ...found.labels, role: `r${(index + 1) % ROLES}` };
    ops.push({ op: 'update', record: { ...peer(index), uid: found.uid, labels }, revision: found.revision });
  }
  await store.commit(workspace, ops, why);
}

function peer(index: number): RecordDraft<'MeshPeer'> {
  const name = `peer-${index}`;
  const publicKey = Buffer.from(name.padEnd(32, '.')).toString('base64');
  return {
    ...draft(
      'MeshPeer',
      name,
      { displayName: name, hostname: name, platform: 'linux', publicKey, network: 'default' },
      { phase: 'ready', address: `10.96.${index >> 8}.${index & 255}` },
    ),
    labels: { role: `r${index % ROLES}`, zone: `z${index % 7}` },
  };
}

function presence(index: number): RecordDraft {
  return draft('Presence', `peer-${index}`, { online: index % 2 === 0 }, {});
}

function policy(index: number): RecordDraft {
  const from = [{ peerSelector: { matchLabels: { role: `r${(index * 7 + 1) % ROLES}` } } }];
  const ingress = [{ from, ports: [{ protocol: 'TCP' as const, port: 1_000 + index }] }];
  const peerSelector = { matchLabels: { role: `r${index % ROLES}` } };
  return draft('MeshPolicy', `policy-${index}`, { action: 'ALLOW', peerSelector, ingress }, {});
}
