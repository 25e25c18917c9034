import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { exact, ifIs, integer, json, type Of, object, text } from '../../core/base/shape.ts';
import { namesIn, textIn } from '../if-readable.ts';
import { RUN_DIRECTORY } from '../run-directory.ts';
import { AGENT, INTERFACE } from './node-locks.ts';

/** What a node made on this host is found by: written before it makes anything, and gone with it or with a reboot. */
const leftShape = json(
  exact(
    object({
      directory: text(4_096),
      interfaceName: text(15),
      wireguardPort: integer(),
    }),
  ),
);

export type LeftNode = Of<typeof leftShape>;

/** The same in the configuration directory, for when /run was cleared. It stays over a reboot, after which nothing is there. */
export const KEPT_NOTE = 'interface.json';

export function noteNode(node: LeftNode): void {
  const directory = path.join(RUN_DIRECTORY, node.interfaceName);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  for (const file of [noteOf(node.interfaceName), keptNoteOf(node.directory)]) {
    writeFileSync(file, JSON.stringify(node), { mode: 0o600 });
  }
}

export function forgetNode({ interfaceName, directory }: Pick<LeftNode, 'interfaceName' | 'directory'>): void {
  for (const file of [noteOf(interfaceName), keptNoteOf(directory)]) rmSync(file, { force: true });
}

/** Returns the node of a configuration directory that was not ended in order, where /run says nothing of its interface. */
export function unnotedNodeOf(directory: string): LeftNode | undefined {
  const kept = ifIs(leftShape, textIn(keptNoteOf(directory)));
  return kept && kept.directory === directory && !isNodeNoted(kept.interfaceName) ? kept : undefined;
}

/** The nodes of a configuration directory that run or were left behind. The note of another may go while they are read. */
export function nodesOf(directory: string): readonly LeftNode[] {
  return namesIn(RUN_DIRECTORY)
    .flatMap((name) => ifIs(leftShape, textIn(noteOf(name))) ?? [])
    .filter((node) => node.directory === directory);
}

/** Whether what a node made on this host is found by its interface. */
export function isNodeNoted(interfaceName: string): boolean {
  return existsSync(noteOf(interfaceName));
}

/** The interfaces that the process which held a configuration directory last was also the last to hold. */
export function heldLast(directory: string): readonly string[] {
  const pid = textIn(path.join(directory, AGENT.pidFile));
  const wasHeld = (name: string) => textIn(path.join(RUN_DIRECTORY, name, INTERFACE.pidFile)) === pid;
  return pid === '' ? [] : namesIn(RUN_DIRECTORY).filter(wasHeld);
}

function keptNoteOf(directory: string): string {
  return path.join(directory, KEPT_NOTE);
}

function noteOf(interfaceName: string): string {
  return path.join(RUN_DIRECTORY, interfaceName, 'node.json');
}
