import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { exact, type Infer, ifIs, integer, json, object, text } from '../../core/base/shape.ts';
import { namesIn, textIn } from '../if-readable.ts';
import { RUN_DIRECTORY } from '../run-directory.ts';

/** Record by which the traces of a node on this host are found: written before it makes anything, and gone with it or with a reboot. */
const traceShape = json(
  exact(
    object({
      directory: text(4_096),
      interfaceName: text(15),
      wireguardPort: integer(),
    }),
  ),
);

export type NodeTrace = Infer<typeof traceShape>;

/** The same in the configuration directory, for when /run was cleared. It stays over a reboot, after which nothing is there. */
export const RECORD_COPY = 'interface.json';

export function recordNode(node: NodeTrace): void {
  const directory = path.join(RUN_DIRECTORY, node.interfaceName);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const file of [recordOf(node.interfaceName), copyOfRecord(node.directory)]) {
    writeFileSync(file, JSON.stringify(node), { mode: 0o600 });
  }
}

/** Marks a node as removed. The past note still names the owner of the interface, until `mesh leave`. */
export function forgetNode({ interfaceName, directory }: Pick<NodeTrace, 'interfaceName' | 'directory'>): void {
  if (isNodeRecorded(interfaceName)) renameSync(recordOf(interfaceName), pastRecordOf(interfaceName));
  rmSync(copyOfRecord(directory), { force: true });
}

/** Returns the node of a configuration directory that was not ended in order, where /run says nothing of its interface. */
export function lostNodeOf(directory: string): NodeTrace | undefined {
  const kept = ifIs(traceShape, textIn(copyOfRecord(directory)));
  return kept && kept.directory === directory && !isNodeRecorded(kept.interfaceName) ? kept : undefined;
}

/** The nodes of a configuration directory that run or were left behind. The note of another may go while they are read. */
export function nodesOf(directory: string): readonly NodeTrace[] {
  return recordedIn(directory, recordOf);
}

function recordedIn(directory: string, fileOf: (interfaceName: string) => string): readonly NodeTrace[] {
  return namesIn(RUN_DIRECTORY)
    .flatMap((name) => ifIs(traceShape, textIn(fileOf(name))) ?? [])
    .filter((node) => node.directory === directory);
}

/** Tells whether the traces of a node are found by its interface. */
export function isNodeRecorded(interfaceName: string): boolean {
  return existsSync(recordOf(interfaceName));
}

/** Returns the interfaces that no node of another configuration directory had since this one's did, the running ones first. */
export function interfacesOf(directory: string): readonly string[] {
  const all = [...nodesOf(directory), ...recordedIn(directory, pastRecordOf)].map(({ interfaceName }) => interfaceName);
  return [...new Set(all)];
}

function copyOfRecord(directory: string): string {
  return path.join(directory, RECORD_COPY);
}

function recordOf(interfaceName: string): string {
  return path.join(RUN_DIRECTORY, interfaceName, 'node.json');
}

function pastRecordOf(interfaceName: string): string {
  return path.join(RUN_DIRECTORY, interfaceName, 'past-node.json');
}
