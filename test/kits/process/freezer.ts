import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';

const LOOK_MS = 5;

/** Where control groups of version 2 are, on hosts that have version 1 beside them too. */
const groups = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].find(
  (folder) => existsSync(path.join(folder, 'cgroup.procs')) && existsSync(path.join(folder, 'cgroup.controllers')),
);

/** Root alone may freeze, and not in a container whose control groups are read-only. */
export const canFreeze = groups !== undefined && mayMake(path.join(groups, `mesh-test-${process.pid}`));

let made = 0;

/**
 * Has processes stand still as on a machine that is paused: their sockets stay open, and no signal reaches them. Where the host
 * has no freezer they are stopped by SIGSTOP.
 *
 * @returns has them go on; does so once, however often it is called
 */
export async function freeze(pids: readonly number[]): Promise<() => void> {
  if (groups === undefined || !canFreeze) {
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return once(() => {
      for (const pid of pids) process.kill(pid, 'SIGCONT');
    });
  }
  made += 1;
  const group = path.join(groups, `mesh-test-${process.pid}-${made}`);
  const move = (pid: number, to: string) => writeFileSync(path.join(to, 'cgroup.procs'), `${pid}`);
  const homes = pids.map((pid) => [pid, path.join(groups, homeOf(pid))] as const);
  mkdirSync(group);
  for (const pid of pids) move(pid, group);
  writeFileSync(path.join(group, 'cgroup.freeze'), '1');
  while (!readFileSync(path.join(group, 'cgroup.events'), 'utf8').includes('frozen 1')) await after(LOOK_MS);
  return once(() => {
    writeFileSync(path.join(group, 'cgroup.freeze'), '0');
    for (const [pid, home] of homes) move(pid, home);
    rmdirSync(group);
  });
}

/** The group of a process, from the root of all of them. */
function homeOf(pid: number): string {
  return /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? '';
}

function mayMake(folder: string): boolean {
  try {
    mkdirSync(folder);
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function once(undo: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    undo();
  };
}
