import { once } from 'node:events';
import { chownSync } from 'node:fs';
import path from 'node:path';
import { natlab } from '../../test/kits/lab/natlab.ts';
import { LabNode } from '../../test/kits/lab/natlab-node.ts';
import { LAB_SERVER, startLabPlane } from '../../test/kits/lab/natlab-plane.ts';
import { memoryOf } from './process.ts';
import { APART, PROGRAM } from './programs-plane.ts';

/**
 * Nodes in userspace mode, by WebAssembly and by a program (npm run build:netstack -- --native), beside one with an interface, in one
 * lab, as root: node bench/node/userspace.ts [MB]. Each downloads from a node with an interface, in turns, and the figures are the
 * medians; the ratio is what counts. Then 100 nodes of one program, which see the other nodes and not each other.
 */
const BYTES = Number(process.argv[2] ?? 20) * 1_000_000;
const TURNS = 3;
const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs'];
const SERVER = `require('http').createServer((_, response) => response.end(Buffer.alloc(${BYTES})))
  .listen(8080, '0.0.0.0', () => console.log('up'))`;

await using lab = await natlab({ hosts: { server: {}, root: {}, user: {}, native: {} } });
await using plane = await startLabPlane(lab);
const token = await plane.joinToken();
const server = new LabNode(lab.host('server'));
const root = new LabNode(lab.host('root'));
const user = new LabNode(lab.host('user'), undefined, AS_NOBODY);
const native = new LabNode(lab.host('native'), undefined, ['env', 'MESH_NETSTACK=native', ...AS_NOBODY]);
for (const node of [user, native]) chownSync(path.dirname(node.directory), NOBODY, NOBODY);
for (const node of [server, root, user, native]) await node.join(token);
server.start();
root.start();
for (const node of [user, native]) node.start(['--userspace', '--proxy', '127.0.0.1:0', '--proxy-open']);
for (const node of [root, user, native]) await node.untilPeer('server', (peer) => peer.path === 'direct');
const web = server.host.spawn(process.execPath, ['-e', SERVER]);
await new Promise((resolve) => web.stdout?.once('data', resolve));

const proxied = async (node: LabNode) => ['--proxy', `socks5h://${(await node.status()).proxy?.address}`];
const [byUser, byNative] = [await proxied(user), await proxied(native)];
const { pid } = (await user.status()).node;
const idle = memoryOf(pid);

/** Megabits a second. */
async function download(node: LabNode, more: readonly string[] = []): Promise<number> {
  const args = ['--silent', '--output', '/dev/null', '--write-out', '%{speed_download}', ...more];
  return (Number(await node.host.must('curl', [...args, 'http://10.96.0.1:8080/'])) * 8) / 1e6;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
const speeds = { root: [] as number[], user: [] as number[], native: [] as number[] };
for (let turn = 0; turn < TURNS; turn += 1) {
  speeds.root.push(await download(root));
  speeds.user.push(await download(user, byUser));
  speeds.native.push(await download(native, byNative));
}
const [plain, userspace, program] = [median(speeds.root), median(speeds.user), median(speeds.native)];

await plane.api('POST', '/api/v1/policies', APART);
const made = await plane.api('POST', '/api/v1/token/generate', {
  name: 'programs',
  expiry: '',
  usageLimit: 100,
  labels: PROGRAM,
});
const many = user.host.spawn(process.execPath, [path.join(import.meta.dirname, 'program-nodes.ts'), '100'], {
  MESH_SERVER: LAB_SERVER,
  MESH_TOKEN: made.token,
});
many.stderr?.pipe(process.stderr);
let told = '';
many.stdout?.on('data', (data) => {
  told += data;
});
await once(many, 'close');
const nodes = JSON.parse(told);

const figures = {
  'wireguard-go and the kernel, Mbit/s': plain,
  'userspace, Mbit/s': userspace,
  'ratio of userspace': userspace / plain,
  'userspace by a program, Mbit/s': program,
  'ratio of that': program / plain,
  'userspace idle, MB PSS': idle.pss,
  'userspace after, MB PSS': memoryOf(pid).pss,
  'library before its first node, MB PSS': nodes.before,
  'library with one node, MB PSS': nodes.one,
  'library, MB PSS for each further of 100 nodes': (nodes.all - nodes.one) / (nodes.count - 1),
  'library, paths to peers of 100 nodes': nodes.paths,
  'library, seconds to join for each node': nodes.seconds / (nodes.count - 1),
};
for (const [name, value] of Object.entries(figures))
  process.stdout.write(`${value.toFixed(2).padStart(10)}  ${name}\n`);
for (const node of [user, native, root, server]) await node.stop();
