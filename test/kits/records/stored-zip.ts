import { readFileSync } from 'node:fs';
import { crc32, deflateRawSync } from 'node:zlib';
import { openEvidence } from '../../../cli/evidence-file.ts';
import { dataDescriptor, directoryOf, localHeader } from '../../../cli/zip-parts.ts';

export interface ZipEntry {
  readonly name: string;
  readonly bytes: Buffer;
  /** Of MS-DOS, in its headers; that of the first entry where it has none. */
  readonly time?: number;
  /** What lies before its own header and belongs to no entry. */
  readonly before?: Buffer;
  /** Its data as compressed, where it is not just that. */
  readonly deflated?: Buffer;
  /** Changes its headers, each in place or by another one. */
  readonly forge?: (headers: ZipHeaders) => Partial<ZipHeaders>;
}

/** All bytes of an entry but its data. */
export interface ZipHeaders {
  readonly local: Buffer;
  readonly descriptor: Buffer;
  readonly central: Buffer;
}

const END_BYTES = 22;
/** Of the time in the header before an entry. */
const TIME_AT = 10;
const SOME_TIME = 0x5a21_0000;

export async function entriesOf(file: string): Promise<ZipEntry[]> {
  const time = readFileSync(file).readUInt32LE(TIME_AT);
  const archive = await openEvidence(file);
  const entries: ZipEntry[] = [];
  for (const name of archive.names) {
    const parts: Uint8Array[] = [];
    for await (const part of archive.read(name)) parts.push(part);
    entries.push({ name, bytes: Buffer.concat(parts), time });
  }
  archive.close();
  return entries;
}

/** A ZIP of whatever entries, also such as no program would write: names come as they are, and as often. */
export function storedZip(entries: readonly ZipEntry[]): Buffer {
  const [files, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const { name, bytes, time, before = Buffer.alloc(0), deflated = deflateRawSync(bytes), forge } of entries) {
    const part = {
      name: Buffer.from(name),
      time: time ?? entries[0]?.time ?? SOME_TIME,
      crc32: crc32(bytes),
      compressedSize: deflated.length,
      uncompressedSize: bytes.length,
      offset: offset + before.length,
    };
    const own = {
      local: localHeader(part),
      descriptor: dataDescriptor(part),
      central: directoryOf([part], 0).subarray(0, -END_BYTES),
    };
    const { local, descriptor, central } = { ...own, ...forge?.(own) };
    files.push(before, local, deflated, descriptor);
    directory.push(central);
    offset += before.length + local.length + deflated.length + descriptor.length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = directoryOf([], offset);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  return Buffer.concat([...files, ...directory, end]);
}
