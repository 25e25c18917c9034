import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, type MeshNode } from '../../bin/node.ts';
import { memoryOf } from './process.ts';

/**
 * Nodes of one program: node bench/node/program-nodes.ts [COUNT], at a control plane of its own, where all see the first
 * alone, or at MESH_SERVER with MESH_TOKEN. Each connects to every peer that it sees. Prints the memory of the process in MB PSS, as
 * JSON: before, with one node, with all of them.
 */
const COUNT = Number(process.argv[2] ?? 100);
const SETTLE_MS = 60_000;
const { MESH_SERVER: server, MESH_TOKEN: token = '', MESH_FIRST_TOKEN: firstToken = token } = process.env;

const nodes: MeshNode[] = [];
const memory = () => memoryOf(process.pid).pss;

if (server === undefined) process.exit(await measuredAtOwnPlane());
const before = memory();
await joined(server);
await settled();
const one = memory();
const startedAt = performance.now();
while (nodes.length < COUNT) await joined(server);
const seconds = (performance.now() - startedAt) / 1_000;
const paths = await settled();
const all = memory();
process.stdout.write(`${JSON.stringify({ before, one, all, count: COUNT, seconds, paths })}\n`);
await Promise.all(nodes.map((node) => node.close()));
process.exit(0);

async function joined(at: string): Promise<void> {
  const by = nodes.length === 0 ? firstToken : token;
  nodes.push(await join({ server: at, token: by, name: `program-${nodes.length}` }));
}

/** Resolves once no peer is being connected to, or after a while. */
async function settled(): Promise<number> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const peers = (await Promise.all(nodes.map((node) => node.status()))).flatMap((status) => status.peers);
    const left = peers.filter(({ path }) => path === null).length;
    if (left === 0 || Date.now() > deadline) return peers.length - left;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
}

/** In another process: this one holds what the control plane was set up with. @returns its exit code */
async function measuredAtOwnPlane(): Promise<number> {
  const { startProgramsPlane } = await import('./programs-plane.ts');
  const plane = await startProgramsPlane(COUNT);
  const env = { ...process.env, MESH_SERVER: plane.server, MESH_TOKEN: plane.token, MESH_FIRST_TOKEN: plane.first };
  const measured = spawn(process.execPath, [import.meta.filename, `${COUNT}`], { env, stdio: 'inherit' });
  const [code] = await once(measured, 'exit');
  await plane.stop();
  return code ?? 1;
}
