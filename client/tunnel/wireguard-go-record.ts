import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { RUN_DIRECTORY } from '../run-directory.ts';
import type { ProcessEntry, ProcessTable } from './process-table.ts';

/**
 * Which process carries an interface, for whoever comes after its agent: "pid, pid of the agent, start of the first" in a file
 * that goes with a reboot. A process id is given again to others: only one that began then, with this command line, is ours.
 */
export interface WireGuardGoRecord {
  readonly pid: number;
  readonly agent: number;
  /** As the process table says it; empty where it does not. */
  readonly startedAt: string;
}

/** Returns the file for the output of wireguard-go: a pipe would end it with its first line after its agent was killed. */
export function outputFile(interfaceName: string): string {
  return path.join(RUN_DIRECTORY, `wireguard-${interfaceName}.log`);
}

export async function makeRunDirectory(): Promise<void> {
  await mkdir(RUN_DIRECTORY, { recursive: true, mode: 0o755 });
}

/** Notes which process is the agent of a wireguard-go, this one unless given; 0 stands for the kernel, or for no agent. */
export async function remember(
  interfaceName: string,
  pid: number,
  processes: ProcessTable,
  agent: number = process.pid,
): Promise<void> {
  await makeRunDirectory();
  const startedAt = (await processes(pid))?.startedAt ?? '';
  await writeFile(pidFile(interfaceName), `${pid} ${agent} ${startedAt}\n`, { mode: 0o644 });
}

/** The wireguard-go that is noted for an interface, while it runs. */
export async function running(
  interfaceName: string,
  processes: ProcessTable,
): Promise<(WireGuardGoRecord & { readonly entry: ProcessEntry }) | undefined> {
  const [pid = '', agent = '', startedAt = ''] = (await readFile(pidFile(interfaceName), 'utf8').catch(() => ''))
    .trim()
    .split(' ');
  const record = { pid: Number(pid), agent: Number(agent), startedAt };
  const entry = record.pid > 0 ? await processes(record.pid) : undefined;
  return entry && isOurs(entry, record, interfaceName) ? { ...record, entry } : undefined;
}

/** Tells whether an agent made an interface of this name, in the kernel or otherwise. */
export async function isRecorded(interfaceName: string): Promise<boolean> {
  return access(pidFile(interfaceName)).then(
    () => true,
    () => false,
  );
}

export async function forget(interfaceName: string): Promise<void> {
  for (const file of [pidFile(interfaceName), outputFile(interfaceName)]) await rm(file, { force: true });
}

/** Tells whether a process is the wireguard-go of an interface, by its command line. */
export function carries({ command }: ProcessEntry, interfaceName: string): boolean {
  const [program = '', ...args] = command;
  return path.basename(program) === 'wireguard-go' && args[0] === '-f' && args[1] === interfaceName;
}

function isOurs(entry: ProcessEntry, record: WireGuardGoRecord, interfaceName: string): boolean {
  const { startedAt } = entry;
  const isSame = startedAt === '' || record.startedAt === '' || startedAt === record.startedAt;
  return isSame && carries(entry, interfaceName);
}

function pidFile(interfaceName: string): string {
  return path.join(RUN_DIRECTORY, `wireguard-${interfaceName}.pid`);
}
