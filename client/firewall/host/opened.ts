import { createHash } from 'node:crypto';
import { constants, rmSync } from 'node:fs';
import path from 'node:path';
import { exact, type Infer, ifIs, json, list, object, oneOf, text, where } from '../../../core/base/shape.ts';
import { replacePrivateFile } from '../../enrol/private-file.ts';
import { readRegular, textIn } from '../../if-readable.ts';
import { isNftName } from './nft-listing.ts';

const fields = object(
  {
    interfaceName: text(15, /^[A-Za-z0-9_.-]+$/),
    tool: oneOf('ufw', 'firewalld', 'nft'),
    /** As the tool needs to know it: that it is its rule, what of firewalld holds it, or a chain, "inet filter input". */
    changes: list(text(256), 64),
  },
  /** Which start of the host it was done in. */
  { boot: text(64) },
);

/** Validates changes: root reverts them by this record, so it holds nothing but these words and names. */
const IS_CHANGE: Readonly<Record<Infer<typeof fields>['tool'], (change: string) => boolean>> = {
  ufw: (change) => change === 'rule',
  firewalld: (change) => change === 'permanent' || change === 'now',
  nft: (change) => change.split(' ').length === 3 && isNftName(change),
};

const openedShape = json(exact(where(fields, ({ tool, changes }) => changes.every(IS_CHANGE[tool]))));

export type Opened = Infer<typeof openedShape>;

/** Changes of a node to the host's own firewall: written before it changes anything, and gone once they are reverted. */
export interface OpenedRecord {
  read(): Opened | undefined;
  write(opened: Opened): void;
  forget(): void;
}

/** Tools keep rules over a restart of the host. */
const STATE_DIRECTORY = '/var/lib/mesh-node';
const ROOT = 0;
const MOST_BYTES = 65_536;

/**
 * The record of the node of a configuration directory. It lies in a place of root's, since that directory may be another
 * user's; who else could write it would have root change the firewall.
 */
export function openedRecord(
  directory: string,
  { place = STATE_DIRECTORY, owner = ROOT, boot = thisBoot() } = {},
): OpenedRecord {
  const file = path.join(place, `opened-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}.json`);
  return {
    read() {
      const opened = ifIs(openedShape, heldIn(file, owner));
      return opened && { ...opened, changes: changesSince(opened, boot) };
    },
    write: (opened) => replacePrivateFile(file, JSON.stringify({ ...opened, boot })),
    forget: () => rmSync(file, { force: true }),
  };
}

function heldIn(file: string, owner: number): string {
  try {
    return readRegular(file, {
      maxBytes: MOST_BYTES,
      flags: constants.O_NOFOLLOW,
      isFit: ({ uid, mode }) => uid === owner && (mode & 0o022) === 0,
    });
  } catch {
    // There is none, or it is nobody's to trust.
    return '';
  }
}

/** Drops firewalld's runtime changes after a restart: the runtime is from the permanent configuration then, or somebody else's. */
function changesSince({ boot: then, changes }: Opened, boot: string): readonly string[] {
  return then === boot || changes.includes('permanent') ? changes : changes.filter((change) => change !== 'now');
}

function thisBoot(): string {
  return textIn('/proc/sys/kernel/random/boot_id').trim();
}
