import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, type Stats } from 'node:fs';

/** Largest file of a node: the graph of a large network. */
const MOST_BYTES = 67_108_864;
const CHUNK_BYTES = 65_536;

/** A file that is not regular, too large, or not fit. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
  readonly code: string;

  constructor(file: string, code: 'EISDIR' | 'UNFIT') {
    super(`${file} is no regular file, is too large, or may be written by others`);
    this.code = code;
  }
}

/** The names in a directory; none where it is not there or cannot be read. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** Reads a file; empty where it is not there or cannot be read. */
export function textIn(file: string): string {
  try {
    return readRegular(file);
  } catch {
    return '';
  }
}

/**
 * Reads a regular file, which may be another user's: a named pipe in its place would hold up whoever opens it, and a device
 * has no end.
 *
 * @param isFit of the file that was opened
 * @throws UnfitFile for what is no regular file, is larger, or is not fit; else what the system says
 */
export function readRegular(
  file: string,
  {
    maxBytes = MOST_BYTES,
    flags = 0,
    isFit = () => true,
  }: { readonly maxBytes?: number; readonly flags?: number; isFit?(stats: Stats): boolean } = {},
): string {
  const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | flags);
  try {
    const stats = fstatSync(handle);
    if (!stats.isFile() || !isFit(stats)) throw new UnfitFile(file, stats.isDirectory() ? 'EISDIR' : 'UNFIT');
    const chunks: Buffer[] = [];
    for (let bytes = 0, read = -1; read !== 0; bytes += read) {
      if (bytes > maxBytes) throw new UnfitFile(file, 'UNFIT');
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      read = readSync(handle, chunk);
      chunks.push(chunk.subarray(0, read));
    }
    return Buffer.concat(chunks).toString('utf8');
  } finally {
    closeSync(handle);
  }
}
