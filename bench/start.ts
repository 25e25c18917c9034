import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { median } from './report.ts';

/**
 * Time from spawn to the first answer of /readyz, and resident memory then: `node bench/start.ts [rounds]`. Every round is
 * a process of its own on a fresh directory, started as users start it; the peer is an empty node process of the same binary.
 */
const rounds = Number(process.argv[2] ?? 7);
const meshd = path.resolve(import.meta.dirname, '../bin/meshd');
const off = { MESH_BUS_LISTEN: '127.0.0.1:0', MESH_RELAY_LISTEN: '127.0.0.1:0', MESH_STUN_LISTEN: '127.0.0.1:0' };

const ready: number[] = [];
const resident: number[] = [];
const processor: number[] = [];
const bare: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-bench-'));
  const started = performance.now();
  const env = { ...process.env, ...off, MESH_LISTEN: '127.0.0.1:0', MESH_LOG_LEVEL: 'error' };
  const child = spawn(meshd, ['--standalone', '--config-dir', directory], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await new Promise<string>((resolve) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const match = /API\s+(http:\S+)\/api/.exec(text);
      if (match?.[1]) resolve(match[1]);
    });
  });
  for (let answered = false; !answered; ) {
    answered = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (!answered) await after(5);
  }
  ready.push(performance.now() - started);
  resident.push(residentOf(child.pid ?? 0));
  processor.push(processorOf(child.pid ?? 0));
  child.kill('SIGTERM');
  await new Promise((resolve) => child.once('exit', resolve));
  rmSync(directory, { recursive: true });

  const empty = performance.now();
  const peer = spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' });
  await new Promise((resolve) => peer.once('exit', resolve));
  bare.push(performance.now() - empty);
}
const cpu = cpus();
console.log(`# Start and memory

\`node bench/start.ts ${rounds}\` on ${new Date().toISOString().slice(0, 10)}, ${cpu.length} x ${cpu[0]?.model ?? 'unknown'}, Node ${process.version}.
Medians of ${rounds} starts on fresh directories with the bus, the relay and STUN on.

| What | Figure | Goal |
|---|---|---|
| spawn to /readyz answering 200 | ${median(ready).toFixed(0)} ms (an empty node process: ${median(bare).toFixed(0)} ms) | under 1,000 ms |
| processor time until then | ${median(processor).toFixed(0)} ms | under 800 ms |
| resident memory then | ${(median(resident) / 1_048_576).toFixed(0)} MB | at most 200 MB |`);

function residentOf(pid: number): number {
  const match = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) * 1_024;
}

/** User and system time, ms; the kernel counts in hundredths of a second. */
function processorOf(pid: number): number {
  const afterName = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1) ?? '';
  const [user, system] = afterName.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}
