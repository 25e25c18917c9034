import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import type { ArchiveReader } from '../core/evidence/verify/findings.ts';
import { cursorOf, requireNothingBetween, type ZipPart } from './zip-parts.ts';

/** An archive of evidence has far less; more is not unpacked. */
const MAX_ENTRIES = 2_000;
const MAX_FILE_BYTES = 4 * 1024 ** 3;
const MAX_ALL_BYTES = 8 * 1024 ** 3;
/** Of what is read as a whole: as JSON it takes many times its size. */
const MAX_TEXT_BYTES = 16 * 1024 ** 2;

export interface OpenArchive extends ArchiveReader {
  close(): void;
}

/** Opens a ZIP without unpacking it. @throws Error for what is none, is cut, or says that it is larger than evidence is */
export async function openEvidence(file: string): Promise<OpenArchive> {
  const zip = await openPromise(file, {
    lazyEntries: true,
    autoClose: false,
    strictFileNames: true,
    decodeStrings: false,
  });
  try {
    return await readDirectory(zip);
  } catch (error) {
    zip.close();
    throw error;
  }
}

/** Names come as bytes, so that what leads out of a directory is found and named rather than refused here. */
async function readDirectory(zip: ZipFile): Promise<OpenArchive> {
  if (zip.entryCount > MAX_ENTRIES)
    throw new Error(`it has ${zip.entryCount} entries, of evidence at most ${MAX_ENTRIES}`);
  const entries = new Map<string, Entry>();
  const parts: ZipPart[] = [];
  const from = cursorOf(zip);
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    const name = Buffer.from(entry.fileName).toString('utf8');
    bytes += entry.uncompressedSize;
    if (entry.uncompressedSize > MAX_FILE_BYTES || bytes > MAX_ALL_BYTES)
      throw new Error('it unpacks to more than evidence has');
    const local = await zip.readLocalFileHeaderPromise(entry, {});
    if (!local.fileName.equals(Buffer.from(entry.fileName)))
      throw new Error(`the entry ${name} has another name in its own header`);
    parts.push({ name, entry, local });
    if (!entries.has(name)) entries.set(name, entry);
  }
  requireNothingBetween(parts, { from, to: cursorOf(zip) }, zip.fileSize);
  const read = async function* (name: string): AsyncGenerator<Uint8Array> {
    const entry = entries.get(name);
    if (!entry) throw new Error('it is not there');
    yield* entry.compressionMethod === DEFLATED ? inflated(zip, entry) : await zip.openReadStreamPromise(entry);
  };
  return {
    names: parts.map(({ name }) => name),
    read,
    async text(name) {
      if ((entries.get(name)?.uncompressedSize ?? 0) > MAX_TEXT_BYTES)
        throw new Error('it is larger than such a file is');
      const parts: Uint8Array[] = [];
      for await (const part of read(name)) parts.push(part);
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(parts));
    },
    close: () => zip.close(),
  };
}

const DEFLATED = 8;

/** What follows the end of the compressed data within an entry is refused: see `zip-parts.ts`. */
async function* inflated(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  const raw: Readable = await zip.openReadStreamPromise(entry, { decompress: false });
  const inflate = createInflateRaw();
  const isRead = pipeline(raw, inflate);
  // What fails is thrown by the reading of its end.
  isRead.catch(() => undefined);
  let bytes = 0;
  try {
    for await (const part of inflate as AsyncIterable<Uint8Array>) {
      bytes += part.length;
      if (bytes > entry.uncompressedSize) throw new Error('it unpacks to more than its header says');
      yield part;
    }
  } finally {
    raw.destroy();
    inflate.destroy();
  }
  await isRead;
  if (bytes !== entry.uncompressedSize || inflate.bytesWritten !== entry.compressedSize)
    throw new Error('it does not end where its header says');
}
