import { type FileHandle, open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import type { ArchiveReader } from '../core/evidence/verify/findings.ts';
import { dataDescriptor, directoryOf, dosTimeOf, localHeader, type ZipPart } from './zip-parts.ts';

/** An archive of evidence has far less; more is not unpacked. */
const MAX_ENTRIES = 2_000;
/** Largest number in a field of 32 bits. */
const MAX_FILE_BYTES = 0xffff_fffe;
const MAX_ALL_BYTES = 8 * 1024 ** 3;
/** Maximum bytes of a file that is read whole: as JSON it takes many times its size. */
const MAX_TEXT_BYTES = 16 * 1024 ** 2;

export interface OpenArchive extends ArchiveReader {
  close(): void;
}

/**
 * Opens a ZIP without unpacking it.
 *
 * @throws Error for what is none, is cut, is not in the form in which a control plane sends it, or says that it is larger than
 * evidence is
 */
export async function openEvidence(file: string): Promise<OpenArchive> {
  const zip = await openPromise(file, {
    lazyEntries: true,
    autoClose: false,
    strictFileNames: true,
    decodeStrings: false,
  });
  try {
    const entries = await readDirectory(zip);
    const bytes = await open(file);
    await requireOwnForm(entries, bytes, zip.fileSize).finally(() => bytes.close());
    return readerOf(zip, entries);
  } catch (error) {
    zip.close();
    throw error;
  }
}

/** Names come as bytes, so that what leads out of a directory is found and named rather than refused here. */
async function readDirectory(zip: ZipFile): Promise<Entry[]> {
  if (zip.entryCount > MAX_ENTRIES)
    throw new Error(`it has ${zip.entryCount} entries, of evidence at most ${MAX_ENTRIES}`);
  const entries: Entry[] = [];
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    bytes += entry.uncompressedSize;
    if (entry.uncompressedSize > MAX_FILE_BYTES || bytes > MAX_ALL_BYTES)
      throw new Error('it unpacks to more than evidence has');
    entries.push(entry);
  }
  return entries;
}

/** Makes all headers anew, and compares them with those that are there. */
async function requireOwnForm(entries: readonly Entry[], file: FileHandle, fileSize: number): Promise<void> {
  let end = 0;
  const parts = [];
  for (const entry of entries) {
    const part: ZipPart = {
      name: Buffer.from(entry.fileName),
      // All files of an archive are of the same moment.
      time: timeOf(entries[0] ?? entry),
      crc32: entry.crc32,
      compressedSize: entry.compressedSize,
      uncompressedSize: entry.uncompressedSize,
    };
    parts.push({ ...part, offset: end });
    for (const [bytes, gap] of [
      [localHeader(part), part.compressedSize],
      [dataDescriptor(part), 0],
    ] as const) {
      if (!(await isAt(file, end, bytes))) throw new Error(otherForm(`around its entry ${nameOf(entry)}`));
      end += bytes.length + gap;
    }
  }
  const directory = directoryOf(parts, end);
  if (fileSize !== end + directory.length || !(await isAt(file, end, directory)))
    throw new Error(otherForm('in its directory'));
}

const otherForm = (where: string) =>
  `it has other headers than a control plane writes, ${where}: names, types, modes, sizes, extra fields or bytes between that were not signed`;

const nameOf = ({ fileName }: Entry) => Buffer.from(fileName).toString('utf8');

function timeOf({ lastModFileTime, lastModFileDate }: Entry): number {
  return lastModFileDate * 0x1_0000 + lastModFileTime;
}

async function isAt(file: FileHandle, position: number, expected: Buffer): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(expected.length), 0, expected.length, position);
  return bytesRead === expected.length && buffer.equals(expected);
}

function readerOf(zip: ZipFile, all: readonly Entry[]): OpenArchive {
  // The first of two entries with the same name is read; that there are two is a finding.
  const entries = new Map(all.map((entry) => [nameOf(entry), entry] as const).reverse());
  const read = async function* (name: string): AsyncGenerator<Uint8Array> {
    const entry = entries.get(name);
    if (!entry) throw new Error('it is not there');
    yield* inflated(zip, entry);
  };
  return {
    names: all.map(nameOf),
    // All have the time of the first: any other does not open.
    isOf: (at) => all[0] !== undefined && timeOf(all[0]) === dosTimeOf(at),
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

/**
 * Decompresses an entry. Data after the end of the compressed stream is refused, because programs that unpack from the
 * beginning would unpack it. So is a wrong checksum, because programs that unpack would treat the file as damaged.
 */
async function* inflated(zip: ZipFile, entry: Entry): AsyncGenerator<Uint8Array> {
  const raw: Readable = await zip.openReadStreamPromise(entry, { decompress: false });
  const inflate = createInflateRaw();
  const isRead = pipeline(raw, inflate);
  // Errors surface where the stream is read to its end.
  isRead.catch(() => undefined);
  let [bytes, checksum] = [0, 0];
  try {
    for await (const part of inflate as AsyncIterable<Uint8Array>) {
      bytes += part.length;
      checksum = crc32(part, checksum);
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
  if (checksum !== entry.crc32) throw new Error('it has another checksum (CRC-32) than its header says');
}
