import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { openPromise } from 'yauzl';

/** Unpacks a ZIP into a folder, without a program of the machine. @throws Error for an archive that is damaged */
export async function unzip(file: string, folder: string): Promise<void> {
  const zip = await openPromise(file, { lazyEntries: true });
  for await (const entry of zip.eachEntry()) {
    const target = path.join(folder, entry.fileName);
    await mkdir(path.dirname(target), { recursive: true });
    if (!entry.fileName.endsWith('/')) await writeFile(target, await buffer(await zip.openReadStreamPromise(entry)));
  }
}

/** Bytes of a header of tar, and of the blocks that files fill. */
const BLOCK = 512;

/** Unpacks what `npm pack` makes into a folder, without the folder `package/` that it begins with. */
export async function untar(file: string, folder: string): Promise<void> {
  const archive = gunzipSync(await readFile(file));
  const textAt = (from: number, length: number) => archive.toString('utf8', from, from + length).replace(/\0.*$/s, '');
  for (let at = 0; archive[at] !== 0 && at < archive.length; ) {
    const name = path.posix.join(textAt(at + 345, 155), textAt(at, 100));
    const [mode, size] = [textAt(at + 100, 8), textAt(at + 124, 12)].map((octal) => Number.parseInt(octal, 8));
    const type = textAt(at + 156, 1);
    if (type !== '0' || mode === undefined || size === undefined) throw new Error(`${name} is no plain file`);
    const target = path.join(folder, path.relative('package', name));
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, archive.subarray(at + BLOCK, at + BLOCK + size), { mode });
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
}
