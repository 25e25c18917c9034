import { realpathSync, statSync } from 'node:fs';
import { StoreError } from '../../core/base/ports.ts';

/** A check that the files under a connection are still those that it opened, and hold what it wrote. */
export interface FileWatch {
  /** Before a write. @throws StoreError `lost`, from the first time on for ever */
  check(): void;
  /** After whatever may have changed a size, such as a write, and before it is acknowledged. @throws StoreError `lost` */
  settle(): void;
  /** Returns the fault, if there is one. */
  problem(): string | undefined;
}

interface WatchedFile {
  readonly name: string;
  readonly id: string;
  /** As the connection left it; nobody else writes the file. */
  bytes: number;
}

/** The watch of a database in memory. */
export const nothingToWatch: FileWatch = { check() {}, settle() {}, problem: () => undefined };

export function watchFiles(path: string): FileWatch {
  const main = realpathSync(path);
  const files = [main, `${main}-wal`].map(watched);
  let problem: string | undefined;

  const look = (isSettled: boolean): void => {
    for (const file of files) {
      if (problem !== undefined) break;
      const now = statSync(file.name, { throwIfNoEntry: false });
      if (!now || idOf(now) !== file.id) problem = `${file.name} was removed or replaced while meshd had it open`;
      else if (!isSettled && now.size < file.bytes) problem = `${file.name} was cut short while meshd had it open`;
      else file.bytes = now.size;
    }
    if (problem !== undefined) throw new StoreError('lost', `the database ${problem}: nothing is written any more`);
  };

  return {
    check: () => look(false),
    settle: () => look(true),
    problem() {
      try {
        look(false);
      } catch {
        // It is told below.
      }
      return problem;
    },
  };
}

function watched(name: string): WatchedFile {
  const stat = statSync(name);
  return { name, id: idOf(stat), bytes: stat.size };
}

function idOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`;
}
