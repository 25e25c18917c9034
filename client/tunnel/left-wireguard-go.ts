import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { MeshError } from '../../core/base/errors.ts';
import { runProgram } from '../run-program.ts';
import type { Device } from './device.ts';
import { generationOf } from './generation.ts';
import type { ProcessTable } from './process-table.ts';
import { getDevice, isAnswering, setDevice, socketPath } from './uapi-socket.ts';
import { forget, remember, running } from './wireguard-go-record.ts';

/** Time to end by itself, which takes the interface away; then it is killed. */
const STOP_TIMEOUT_MS = 2_000;
const POLL_MS = 5;

/**
 * The device of a wireguard-go that an earlier agent left. Its sessions and packets know nothing of the change.
 *
 * @returns undefined where there is none, it hangs, or its program was replaced since
 * @throws MeshError `conflict` when that agent runs
 */
export async function takeOverWireGuardGo(interfaceName: string, processes: ProcessTable): Promise<Device | undefined> {
  const left = await running(interfaceName, processes);
  if (!left || left.entry.isReplaced || !(await isAnswering(interfaceName))) return undefined;
  refuseInUse(interfaceName, left);
  const { pid } = left;
  const { stdout } = await runProgram(`/proc/${pid}/exe`, ['--version']);
  await remember(interfaceName, pid, processes);
  return {
    kind: 'wireguard-go',
    mixesFamilies: generationOf(stdout) === 'one-by-one',
    set: (change) => setDevice(interfaceName, change),
    get: () => getDevice(interfaceName),
    ended: whenGone(interfaceName, pid),
    remove: () => recoverWireGuardGo(interfaceName, processes),
  };
}

/**
 * Ends a wireguard-go that an earlier agent left for this interface, and removes its socket. Idempotent.
 *
 * @throws MeshError `conflict` when that agent runs
 */
export async function recoverWireGuardGo(interfaceName: string, processes: ProcessTable): Promise<void> {
  const left = await running(interfaceName, processes);
  if (left) {
    refuseInUse(interfaceName, left);
    send(left.pid, 'SIGTERM');
    const deadline = performance.now() + STOP_TIMEOUT_MS;
    while (await running(interfaceName, processes)) {
      if (performance.now() > deadline) send(left.pid, 'SIGKILL');
      await delay(POLL_MS);
    }
  }
  await forget(interfaceName);
  if (!(await isAnswering(interfaceName))) await rm(socketPath(interfaceName), { force: true });
}

/** A child whose parent has ended is given to another: one that still has its parent is in use. */
function refuseInUse(interfaceName: string, left: NonNullable<Awaited<ReturnType<typeof running>>>): void {
  const { agent, entry } = left;
  if (agent === process.pid || entry.parent !== agent) return;
  const message = `The interface ${interfaceName} belongs to a running agent, process ${agent}. Stop that one first.`;
  throw new MeshError('conflict', message);
}

/** A process that is no child tells of its end by the connection that it drops. */
function whenGone(interfaceName: string, pid: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(socketPath(interfaceName));
    socket.on('error', () => {});
    socket.on('close', () => resolve(`wireguard-go, process ${pid}, has ended.`));
  });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
