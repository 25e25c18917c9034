import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '../../core/base/errors.ts';
import type { Tun } from '../../platform/tun.ts';
import type { Device } from './device.ts';
import type { Generation } from './generation.ts';
import type { ProcessEntry, ProcessTable } from './process-table.ts';
import { getDevice, isAnswering, setDevice, socketPath } from './uapi-socket.ts';

/** A wireguard-go of this agent: one process for one interface. */
export interface UserspaceWireGuard {
  /** Resolves with the reason when the process has ended. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

const START_TIMEOUT_MS = 5_000;
/** Time to end by itself, which takes the interface away; then it is killed. */
const STOP_TIMEOUT_MS = 2_000;
const POLL_MS = 5;
/** Of what it writes, kept for the message. */
const KEPT_OUTPUT = 2_000;
const RUN_DIRECTORY = '/var/run/mesh';

/** An interface of a wireguard-go of its own, over a TUN that was made for it, else over one that it makes. */
export async function wireGuardGoDevice(interfaceName: string, generation: Generation, tun?: Tun): Promise<Device> {
  const { ended, stop } = await startWireGuardGo(interfaceName, tun);
  return {
    kind: 'wireguard-go',
    mixesFamilies: generation === 'one-by-one',
    set: (change) => setDevice(interfaceName, change),
    get: () => getDevice(interfaceName),
    ended,
    remove: stop,
  };
}

/** Starts wireguard-go and resolves once it can be configured. `tun` is closed here: wireguard-go has it then. */
export async function startWireGuardGo(interfaceName: string, tun?: Tun): Promise<UserspaceWireGuard> {
  const child = spawn('wireguard-go', ['-f', interfaceName], {
    // A group of its own: Ctrl-C reaches the agent, which takes the tunnel down in order.
    detached: true,
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'error', ...(tun && { WG_TUN_FD: '3' }) },
    stdio: ['ignore', 'pipe', 'pipe', ...(tun ? [tun.fd] : [])],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT);
    });
  }
  const ended = new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(`wireguard-go could not be started: ${message}`));
    child.on('exit', (code, signal) =>
      resolve(`wireguard-go ended with ${signal ?? code}. ${lastLine(output)}`.trim()),
    );
  });
  const stop = async () => {
    await stopChild(child, ended);
    await forget(interfaceName);
  };
  try {
    await tun?.close();
    if (child.pid !== undefined) await remember(interfaceName, child.pid);
    await untilAnswering(interfaceName, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ended, stop };
}

/**
 * Ends a wireguard-go that an earlier agent left for this interface, and removes its socket. Idempotent.
 *
 * @throws MeshError `conflict` when that agent runs
 */
export async function recoverWireGuardGo(interfaceName: string, processes: ProcessTable): Promise<void> {
  const [pid = 0, agent = 0] = (await readFile(pidFile(interfaceName), 'utf8').catch(() => '')).split(' ').map(Number);
  const left = pid > 0 ? await processes(pid) : undefined;
  if (isWireGuardGo(left, interfaceName)) {
    // A child whose parent has ended is given to another: one that still has its parent is in use.
    if (agent !== process.pid && left.parent === agent) {
      const message = `The interface ${interfaceName} belongs to a running agent, process ${agent}. Stop that one first.`;
      throw new MeshError('conflict', message);
    }
    send(pid, 'SIGTERM');
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    while (isWireGuardGo(await processes(pid), interfaceName)) {
      if (performance.now() > deadline) send(pid, 'SIGKILL');
      await delay(POLL_MS);
    }
  }
  await forget(interfaceName);
  if (!(await isAnswering(interfaceName))) await rm(socketPath(interfaceName), { force: true });
}

/** A process id is given again to others: only one with this very command line is ours. */
function isWireGuardGo(process: ProcessEntry | undefined, interfaceName: string): process is ProcessEntry {
  const [program = '', ...args] = process?.command ?? [];
  return path.basename(program) === 'wireguard-go' && args[0] === '-f' && args[1] === interfaceName;
}

async function untilAnswering(interfaceName: string, ended: Promise<string>): Promise<void> {
  let end: string | undefined;
  void ended.then((reason) => {
    end = reason;
  });
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (!(await isAnswering(interfaceName))) {
    if (end !== undefined) throw new MeshError('unavailable', end);
    if (performance.now() > deadline) throw new MeshError('unavailable', 'wireguard-go does not answer.');
    await delay(POLL_MS);
  }
}

async function stopChild(child: ChildProcess, ended: Promise<string>): Promise<void> {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

function pidFile(interfaceName: string): string {
  return path.join(RUN_DIRECTORY, `wireguard-${interfaceName}.pid`);
}

async function remember(interfaceName: string, pid: number): Promise<void> {
  await mkdir(RUN_DIRECTORY, { recursive: true, mode: 0o755 });
  await writeFile(pidFile(interfaceName), `${pid} ${process.pid}\n`, { mode: 0o644 });
}

async function forget(interfaceName: string): Promise<void> {
  await rm(pidFile(interfaceName), { force: true });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
