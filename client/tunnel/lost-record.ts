import { isSameInRun, openFile, processesHere } from '../open-files.ts';
import { runProgram } from '../run-program.ts';
import { isAgentCommand, type ProcessEntry, type ProcessTable } from './process-table.ts';
import { getDevice } from './uapi-socket.ts';
import { getWithTool } from './wg-tool.ts';
import { carries, isRecorded, outputFile, remember } from './wireguard-go-record.ts';

/** In place of a process. */
export const KERNEL = 0;
/** In place of an agent that has ended. */
const NO_AGENT = 0;
const STDOUT = 1;

/**
 * Notes an interface again whose note is lost, as with a cleared /run, where it is shown to be of a node: by a wireguard-go that
 * writes where this program has it write, or by this node's key. What is not shown stays without a note. Linux only.
 *
 * @param publicKey of this node, base64; undefined where it is not known
 */
export async function restoreRecord(
  interfaceName: string,
  publicKey: string | undefined,
  processes: ProcessTable,
): Promise<void> {
  if (await isRecorded(interfaceName)) return;
  const found = await carrierOf(interfaceName, processes);
  if (found) {
    const { pid, entry } = found;
    const writesOutput = isSameInRun(openFile(pid, STDOUT), outputFile(interfaceName));
    if (!writesOutput && !(await answersAs(interfaceName, publicKey))) return;
    const parent = await processes(entry.parent);
    await remember(interfaceName, pid, processes, isAgentCommand(parent?.command ?? []) ? entry.parent : NO_AGENT);
  } else if (publicKey !== undefined && (await kernelKeyOf(interfaceName)) === publicKey) {
    await remember(interfaceName, KERNEL, processes, NO_AGENT);
  }
}

/** The wireguard-go of an interface of this network namespace. */
async function carrierOf(
  interfaceName: string,
  processes: ProcessTable,
): Promise<{ readonly pid: number; readonly entry: ProcessEntry } | undefined> {
  for (const pid of processesHere()) {
    const entry = await processes(pid);
    if (entry && carries(entry, interfaceName)) return { pid, entry };
  }
  return undefined;
}

async function answersAs(interfaceName: string, publicKey: string | undefined): Promise<boolean> {
  const held = await getDevice(interfaceName).catch(() => undefined);
  return publicKey !== undefined && held?.publicKey === publicKey;
}

async function kernelKeyOf(interfaceName: string): Promise<string | null> {
  const { code, stdout } = await runProgram('ip', ['-json', '-details', 'link', 'show', 'dev', interfaceName]);
  const [link] = code === 0 ? JSON.parse(stdout) : [];
  if (link?.linkinfo?.info_kind !== 'wireguard') return null;
  return getWithTool(interfaceName).then(
    (held) => held.publicKey,
    () => null,
  );
}
