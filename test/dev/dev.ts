import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { createServer } from 'vite';
import { PASSWORD } from '../kits/web/page-people.ts';
import { PEOPLE } from '../kits/web/seeded-network.ts';
import { DEV_DIRECTORY, seed } from './seed.ts';

/**
 * Runs what a developer changes: a control plane that restarts when a file of it changes, on a seeded network, and the
 * dashboard by Vite, which hands calls to that control plane.
 */
const ROOT = path.resolve(import.meta.dirname, '../..');
/** Folders of the control plane. */
const SOURCES = 'bin core llm mcp net plane platform rest storage tools'.split(' ');
const { values } = parseArgs({
  options: {
    directory: { type: 'string', default: DEV_DIRECTORY },
    port: { type: 'string', default: '5173' },
  },
});

const directory = path.resolve(values.directory);
if (!existsSync(path.join(directory, 'config.yaml'))) {
  console.log('Seeding a network. This takes some seconds.');
  await seed(directory);
}
let plane = startPlane();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());
const api = await addressOf(plane);
// The control plane answers a browser whose Host and Origin name it.
const proxy = { target: api, changeOrigin: true, headers: { origin: api } };
const dashboard = await createServer({
  root: path.join(ROOT, 'web'),
  server: {
    host: '127.0.0.1',
    port: Number(values.port),
    proxy: { '/api': proxy, '/mcp': proxy, '/docs': proxy, '/assets': proxy },
  },
});
await dashboard.listen();
const sources = SOURCES.map((folder) => path.join(ROOT, folder, path.sep));
let restarting = Promise.resolve();
let isAsked = false;
dashboard.watcher.add(sources).on('change', (file) => {
  if (isAsked || !sources.some((folder) => file.startsWith(folder))) return;
  isAsked = true;
  restarting = restarting.then(restart);
});
// Vite listens for SIGTERM too, and would end this process before the control plane has ended.
process.removeAllListeners('SIGTERM');
process.once('SIGTERM', () => void stop());

console.log(
  [
    '',
    `Dashboard  ${dashboard.resolvedUrls?.local[0]}`,
    `Login      admin, password: ${PASSWORD}`,
    `           ${Object.entries(PEOPLE)
      .map(([name, role]) => `${name} (${role})`)
      .join(', ')} have the same password`,
    `API        ${api}/api/v1`,
    `Data       ${directory} (stop this, and npm run seed renews it)`,
  ].join('\n'),
);

/** @param listen the address of the one before, which the dashboard calls */
function startPlane(listen?: string): ChildProcess {
  const env = { ...process.env, ...(listen !== undefined && { MESH_LISTEN: listen }) };
  const args = ['bin/meshd.ts', '--standalone', '--config-dir', directory];
  return spawn(process.execPath, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'inherit'] });
}

/** Node's own `--watch` sends messages among those of the computing threads, so a change is watched by Vite. */
async function restart(): Promise<void> {
  await endPlane();
  isAsked = false;
  console.log('Restarting the control plane.');
  plane = startPlane(new URL(api).host);
  // A control plane that does not start says why, and the next change starts it again.
  await addressOf(plane).catch(() => undefined);
}

async function endPlane(): Promise<void> {
  if (plane.exitCode !== null || plane.signalCode !== null) return;
  plane.kill('SIGTERM');
  await once(plane, 'exit');
}

/** Returns the address that a control plane prints once it is ready, and prints on whatever it says. */
async function addressOf({ stdout }: ChildProcess): Promise<string> {
  let text = '';
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  stdout?.on('data', (chunk: Buffer) => {
    process.stdout.write(chunk);
    text += chunk;
    const [, address] = / API +(\S+)\/api\/v1 /.exec(text) ?? [];
    if (address !== undefined) resolve(address);
  });
  stdout?.once('end', () => reject(new Error('The control plane ended before it was ready.')));
  return promise;
}

/** Ends both at once: a browser keeps connections to the dashboard open for as long as it likes. */
async function stop(): Promise<void> {
  await endPlane();
  process.exit();
}
