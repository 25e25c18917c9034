import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { readNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { makePrivateDirectory } from '../../client/enrol/private-file.ts';
import { namesIn } from '../../client/if-readable.ts';
import { RUN_DIRECTORY } from '../../client/run-directory.ts';
import { runProgram } from '../../client/run-program.ts';
import { type LockHolder, lockDirectory, takeLock } from '../../storage/directory-lock.ts';

/** Names that a sandbox makes on the host; each contains its mark. */
export interface SandboxNames {
  readonly namespace: string;
  readonly interfaceName: string;
  readonly directory: string;
  /** Its temporary home, where its user has none. */
  readonly temporary: string;
}

export function sandboxNames(mark: string): SandboxNames {
  return {
    namespace: `mesh-${mark}`,
    interfaceName: `ms${mark}`,
    directory: path.join(RUN_DIRECTORY, `sandbox-${mark}`),
    temporary: `/tmp/mesh-sandbox-${mark}`,
  };
}

const SANDBOX: LockHolder = {
  pidFile: 'sandbox.pid',
  lockFile: 'sandbox.lock',
  refusal: (directory, pid) => `${directory} is in use by another sandbox (pid ${pid}).`,
};

/** Holds the names of a sandbox until this process ends, however it does. The directory bears its name once it is locked. */
export function lockSandbox({ directory }: SandboxNames): { release(): void } {
  const draft = `${directory}.new`;
  makePrivateDirectory(draft);
  const lock = lockDirectory(draft, SANDBOX);
  renameSync(draft, directory);
  return lock;
}

/** Removes what sandboxes left whose process was killed. One that nobody holds is gone. */
export async function removeStaleSandboxes(): Promise<void> {
  for (const name of namesIn(RUN_DIRECTORY)) {
    const [, mark] = /^sandbox-([0-9a-f]{8})$/.exec(name) ?? [];
    if (mark === undefined) continue;
    const names = sandboxNames(mark);
    const lock = staleLock(names.directory);
    if (lock === undefined) continue;
    try {
      await removeSandbox(names);
    } finally {
      lock.release();
    }
  }
}

function staleLock(directory: string): { release(): void } | undefined {
  if (!existsSync(path.join(directory, SANDBOX.lockFile))) return undefined;
  try {
    return takeLock(directory, SANDBOX);
  } catch {
    return undefined;
  }
}

/** Ends what runs in the namespace of a sandbox, and removes all that it made on the host. Idempotent. */
export async function removeSandbox({ namespace, interfaceName, directory, temporary }: SandboxNames): Promise<void> {
  const { stdout } = await runProgram('ip', ['netns', 'pids', namespace]);
  // wireguard-go outlives an agent that is killed.
  for (const [pid] of stdout.matchAll(/\d+/g)) kill(Number(pid));
  await runProgram('ip', ['netns', 'delete', namespace]);
  await leave(directory).catch(() => undefined);
  const run = (name: string) => path.join(RUN_DIRECTORY, name);
  const files = [`wireguard-${interfaceName}.pid`, `wireguard-${interfaceName}.log`].map(run);
  const sockets = [`/var/run/wireguard/${interfaceName}.sock`];
  const directories = [`/etc/netns/${namespace}`, run(interfaceName)];
  // By rm(1), which follows no link that the command left there.
  await runProgram('rm', ['-rf', '--one-file-system', '--', temporary]);
  // Its own directory last: by that the rest is found.
  for (const left of [...files, ...sockets, ...directories, directory]) rmSync(left, { recursive: true, force: true });
}

/** The peer goes with the sandbox; one whose time is over is gone already. */
async function leave(directory: string): Promise<void> {
  const config = readNodeConfig(directory);
  if (config) await new PlaneApi(config.server, config.deviceToken).leave();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
