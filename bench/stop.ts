import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { apiOf, configure, freshWorkspace } from '../test/kits/http/harness.ts';
import { machine, spread } from './report.ts';

/**
 * Time from SIGTERM to the end of the process, with streams of events open that nobody closes: `node bench/stop.ts [rounds]`.
 * Every round is a process of its own, started as users start it.
 */
const rounds = Number(process.argv[2] ?? 7);
const meshd = path.resolve(import.meta.dirname, '../bin/meshd');
const anyPort = '127.0.0.1:0';
const listeners = {
  MESH_LISTEN: anyPort,
  MESH_BUS_LISTEN: anyPort,
  MESH_RELAY_LISTEN: anyPort,
  MESH_STUN_LISTEN: anyPort,
};

async function round(streams: number): Promise<number> {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-bench-'));
  configure(directory);
  const env = { ...process.env, ...listeners, MESH_LOG_LEVEL: 'error' };
  const child = spawn(meshd, ['--standalone', '--config-dir', directory], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const [, found] = /API\s+(http:\S+)\/api/.exec(text) ?? [];
      if (found) resolve(found);
    });
  });
  const { token, workspace } = await freshWorkspace(apiOf(url), 'bench', 10);
  const headers = { authorization: `Bearer ${token}`, 'x-workspace-id': workspace };
  const open = await Promise.all(Array.from({ length: streams }, () => fetch(`${url}/api/v1/events`, { headers })));
  if (open.some(({ status }) => status !== 200)) throw new Error('a stream was refused');
  const reading = open.map((stream) => stream.text());
  const asked = performance.now();
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await ended;
  const took = performance.now() - asked;
  await Promise.all(reading);
  rmSync(directory, { recursive: true });
  return took;
}

const figures = new Map<number, number[]>();
for (let count = 0; count < rounds; count++) {
  for (const streams of [0, 1, 50]) figures.set(streams, [...(figures.get(streams) ?? []), await round(streams)]);
}
console.log(`# Stop

\`node bench/stop.ts ${rounds}\` on ${new Date().toISOString().slice(0, 10)}, ${machine()}.
From SIGTERM to the end of the process, median (lowest to highest) of ${rounds}, everything on. Goal: under 1,000 ms with nothing
but open streams of events.

| Streams | ms |
|---|---|
${[...figures].map(([streams, all]) => `| ${streams} | ${spread(all, 0)} |`).join('\n')}`);
