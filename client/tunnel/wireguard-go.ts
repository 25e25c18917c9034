import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, truncate } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '../../core/base/errors.ts';
import type { Tun } from '../../platform/tun.ts';
import type { Device } from './device.ts';
import type { Generation } from './generation.ts';
import type { ProcessTable } from './process-table.ts';
import { getDevice, isAnswering, setDevice } from './uapi-socket.ts';
import { forget, makeRunDirectory, outputFile, remember } from './wireguard-go-record.ts';

const START_TIMEOUT_MS = 5_000;
/** Time to end by itself, which takes the interface away; then it is killed. */
const STOP_TIMEOUT_MS = 2_000;
const POLL_MS = 5;
/** Errors alone are written, but one may come with each packet: the file is emptied so often. */
const EMPTY_OUTPUT_MS = 60_000;

/** An interface of a wireguard-go of its own, over a TUN that was made for it, else over one that it makes. */
export async function wireGuardGoDevice(
  interfaceName: string,
  generation: Generation,
  processes: ProcessTable,
  tun?: Tun,
): Promise<Device> {
  const { ended, stop } = await startWireGuardGo(interfaceName, processes, tun);
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
export async function startWireGuardGo(interfaceName: string, processes: ProcessTable, tun?: Tun) {
  await makeRunDirectory();
  const output = await open(outputFile(interfaceName), 'w', 0o600);
  // A group of its own: Ctrl-C reaches the agent, which takes the tunnel down in order.
  const child = spawn('wireguard-go', ['-f', interfaceName], {
    detached: true,
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'error', ...(tun && { WG_TUN_FD: '3' }) },
    stdio: ['ignore', output.fd, output.fd, ...(tun ? [tun.fd] : [])],
  });
  await output.close();
  const emptying = setInterval(() => void truncate(outputFile(interfaceName)).catch(() => {}), EMPTY_OUTPUT_MS);
  const ended = new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(`wireguard-go could not be started: ${message}`));
    child.on('exit', async (code, signal) =>
      resolve(`wireguard-go ended with ${signal ?? code}. ${await lastLine(interfaceName)}`.trim()),
    );
  });
  void ended.then(() => clearInterval(emptying));
  const stop = async () => {
    await stopChild(child, ended);
    await forget(interfaceName);
  };
  try {
    await tun?.close();
    if (child.pid !== undefined) await remember(interfaceName, child.pid, processes);
    await untilAnswering(interfaceName, ended);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ended, stop };
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

async function lastLine(interfaceName: string): Promise<string> {
  const text = await readFile(outputFile(interfaceName), 'utf8').catch(() => '');
  return text.trim().split('\n').at(-1) ?? '';
}
