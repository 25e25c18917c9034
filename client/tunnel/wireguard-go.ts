import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, truncate } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '../../core/base/errors.ts';
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

/** An interface of a wireguard-go of its own. */
export async function wireGuardGoDevice(
  interfaceName: string,
  generation: Generation,
  processes: ProcessTable,
  ending?: AbortSignal,
): Promise<Device> {
  const { ended, stop } = await startWireGuardGo(interfaceName, processes, ending);
  return {
    kind: 'wireguard-go',
    mixesFamilies: generation === 'one-by-one',
    set: (change) => setDevice(interfaceName, change),
    get: () => getDevice(interfaceName),
    ended,
    remove: stop,
  };
}

/**
 * Starts wireguard-go and resolves once it can be configured.
 *
 * @param ending aborted once nobody waits for it any more
 */
export async function startWireGuardGo(interfaceName: string, processes: ProcessTable, ending?: AbortSignal) {
  await makeRunDirectory();
  const output = await open(outputFile(interfaceName), 'w', 0o600);
  // A group of its own: Ctrl-C reaches the agent, which takes the tunnel down in order.
  const child = spawn('wireguard-go', ['-f', interfaceName], {
    detached: true,
    env: { PATH: process.env['PATH'], LOG_LEVEL: 'error' },
    stdio: ['ignore', output.fd, output.fd],
  });
  // Before anything is waited for: a process that fails at once would end unheard.
  const ended = new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(`wireguard-go could not be started: ${message}`));
    child.on('exit', async (code, signal) =>
      resolve(`wireguard-go ended with ${signal ?? code}. ${await lastLine(interfaceName)}`.trim()),
    );
  });
  const emptying = setInterval(() => void truncate(outputFile(interfaceName)).catch(() => {}), EMPTY_OUTPUT_MS);
  void ended.then(() => clearInterval(emptying));
  const stop = async () => {
    await stopChild(child, ended);
    await forget(interfaceName);
  };
  try {
    await output.close();
    if (child.pid !== undefined) await remember(interfaceName, child.pid, processes);
    await untilAnswering(interfaceName, ended, ending);
  } catch (error) {
    await stop();
    throw error;
  }
  return { ended, stop };
}

/** @throws MeshError `unavailable` when it ends, does not answer in time, or nobody waits for it any more */
async function untilAnswering(interfaceName: string, ended: Promise<string>, ending?: AbortSignal): Promise<void> {
  const over = new AbortController();
  const stop = over.signal;
  const silent = delay(START_TIMEOUT_MS, 'wireguard-go does not answer.', { signal: stop }).catch(String);
  const stopped = new Promise<string>((resolve) => {
    const stopWaiting = () => resolve('wireguard-go was stopped before it answered.');
    if (ending?.aborted) stopWaiting();
    ending?.addEventListener('abort', stopWaiting, { once: true, signal: stop });
  });
  const answered = async () => {
    while (!stop.aborted && !(await isAnswering(interfaceName))) await delay(POLL_MS);
    return undefined;
  };
  const trouble = await Promise.race([ended, stopped, silent, answered()]);
  over.abort();
  if (trouble !== undefined) throw new MeshError('unavailable', trouble);
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
