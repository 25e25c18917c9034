import { rmSync } from 'node:fs';
import path from 'node:path';
import { exact, ifIs, json, list, type Of, object, oneOf, text } from '../../../core/base/shape.ts';
import { replacePrivateFile } from '../../enrol/private-file.ts';
import { textIn } from '../../if-readable.ts';

/**
 * What a node changed of the host's own firewall: written before it changes anything, and gone once that is taken away. It lies
 * with the configuration, since tools keep rules over a restart of the host.
 */
const openedShape = json(
  exact(
    object({
      interfaceName: text(15),
      tool: oneOf('ufw', 'firewalld', 'nft'),
      /** As the tool needs to know it: `permanent`, or a chain. */
      changes: list(text(256), 64),
    }),
  ),
);

export type Opened = Of<typeof openedShape>;

/** Where that is kept. */
export interface OpenedRecord {
  read(): Opened | undefined;
  write(opened: Opened): void;
  forget(): void;
}

export function openedRecord(directory: string): OpenedRecord {
  const file = path.join(directory, OPENED_FILE);
  return {
    read: () => ifIs(openedShape, textIn(file)),
    write: (opened) => replacePrivateFile(file, JSON.stringify(opened)),
    forget: () => rmSync(file, { force: true }),
  };
}

export const OPENED_FILE = 'opened-firewall.json';
