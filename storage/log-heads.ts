import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { readCheckpoint } from '../core/audit/checkpoint.ts';
import type { DurableHeads, LogHeads } from '../core/audit/log-keys.ts';
import { MeshError } from '../core/base/errors.ts';
import { giveToOwner, makeDurable, replaceOwned } from './owned-file.ts';

const FOLDER = 'log-heads';
const NAME = /^[\w-]{1,64}$/;

/**
 * The newest signed checkpoint of each log in a file of its own, `<configDir>/log-heads/<workspace>`: a signed note, as
 * others read it. Who takes checkpoints out of the database does not have a rewritten log signed.
 */
export function headsIn(configDir: string): DurableHeads {
  const folder = path.join(configDir, FOLDER);
  const known = new Map<string, string>();
  const newest = (workspace: string) => {
    const note = known.get(workspace) ?? read(fileOf(folder, workspace));
    if (note !== undefined) known.set(workspace, note);
    return note;
  };
  return {
    newest: async (workspace) => newest(workspace),
    async keep(workspace, note) {
      const before = newest(workspace);
      if (before === note || sizeOf(before) > sizeOf(note)) return;
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      giveToOwner(configDir, [FOLDER]);
      replaceOwned(fileOf(folder, workspace), note);
      known.set(workspace, note);
    },
    all: () =>
      namesIn(folder).flatMap((workspace) => {
        const note = newest(workspace);
        return note === undefined ? [] : [{ workspace, note, at: statSync(fileOf(folder, workspace)).mtimeMs }];
      }),
    workspaces: async () => namesIn(folder),
    wereKept: () => existsSync(folder),
    begin(notes) {
      const draft = `${folder}.new`;
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(draft, { mode: 0o700 });
      giveToOwner(configDir, [path.basename(draft)]);
      for (const [workspace, note] of notes) replaceOwned(fileOf(draft, workspace), note);
      renameSync(draft, folder);
      makeDurable(configDir);
    },
    giveUp(workspace, instead) {
      known.delete(workspace);
      if (instead === undefined) rmSync(fileOf(folder, workspace), { force: true });
      else replaceOwned(fileOf(folder, workspace), instead);
    },
  };
}

/** The same for who keeps none: what another keeps meanwhile is seen. */
export function headReader(configDir: string): Pick<LogHeads, 'newest'> {
  return { newest: async (workspace) => read(fileOf(path.join(configDir, FOLDER), workspace)) };
}

function fileOf(folder: string, workspace: string): string {
  if (!NAME.test(workspace)) throw new TypeError(`A workspace is not called ${workspace}.`);
  return path.join(folder, workspace);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => NAME.test(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function sizeOf(note: string | undefined): number {
  return note === undefined ? -1 : (readCheckpoint(note)?.size ?? -1);
}

/** @throws MeshError `unavailable` where it is there and cannot be read */
function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    const why = (error as Error).message;
    throw new MeshError('unavailable', `${file}, what was signed last, cannot be read, so nothing is signed: ${why}`);
  }
}
