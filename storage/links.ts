import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import path from 'node:path';

/** Where a file is, or would be made: links are followed, one to a file that is not there too. */
export function linksFollowed(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const folder = path.dirname(path.resolve(file));
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) {
    return linksFollowed(path.resolve(folder, readlinkSync(file)));
  }
  return folder === path.resolve(file) ? folder : path.join(linksFollowed(folder), path.basename(file));
}
