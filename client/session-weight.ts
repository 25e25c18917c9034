import { readFile, writeFile } from 'node:fs/promises';

/**
 * Of a session among the others of this host: autogroups, sched(7). What waits for the tunnel is the work of everybody else;
 * WireGuard in the kernel comes before all processes.
 */
const NICE = -10;

/**
 * Gives the session that a process leads more weight than others have. Where sessions have no weight of their own, or this
 * process may not give it, all stay equal.
 */
export async function favourSessionOf(pid: number): Promise<void> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // proc_pid_stat(5): state, parent, process group and session follow the name in parentheses.
  const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (Number(session) === pid) await writeFile(`/proc/${pid}/autogroup`, `${NICE}`).catch(() => {});
}
