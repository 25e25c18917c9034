import { crc32 } from 'node:zlib';
import { openEvidence } from '../../../cli/evidence-file.ts';

export interface ZipEntry {
  readonly name: string;
  readonly bytes: Buffer;
  /** In its own header; where it differs from that of the directory. */
  readonly localName?: string;
  /** What lies before its own header and belongs to no entry. */
  readonly before?: Buffer;
  /** Compressed by deflate, with whatever follows that. */
  readonly deflated?: Buffer;
  /** The size in its own header; where it differs from that of the directory. */
  readonly localSize?: number;
}

export async function entriesOf(file: string): Promise<ZipEntry[]> {
  const archive = await openEvidence(file);
  const entries: ZipEntry[] = [];
  for (const name of archive.names) {
    const parts: Uint8Array[] = [];
    for await (const part of archive.read(name)) parts.push(part);
    entries.push({ name, bytes: Buffer.concat(parts) });
  }
  archive.close();
  return entries;
}

/** A ZIP of whatever entries, also such as no program would write: names come as they are, and as often. */
export function storedZip(entries: readonly ZipEntry[]): Buffer {
  const [files, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const entry of entries) {
    const { name, bytes, localName = name, before = Buffer.alloc(0), deflated, localSize } = entry;
    const local = header(0x04034b50, 30, localName, entry);
    if (localSize !== undefined) local.writeUInt32LE(localSize, 18);
    files.push(before, local, deflated ?? bytes);
    const central = header(0x02014b50, 46, name, entry);
    central.writeUInt32LE(offset + before.length, 42);
    directory.push(central);
    offset += before.length + local.length + (deflated ?? bytes).length;
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, ...directory, end]);
}

/** The fields that both headers have begin at 4 in that of a file, at 6 in that of the directory. */
function header(signature: number, length: number, name: string, { bytes, deflated }: ZipEntry): Buffer {
  const at = length === 30 ? 4 : 6;
  const text = Buffer.from(name);
  const fixed = Buffer.alloc(length);
  fixed.writeUInt32LE(signature, 0);
  fixed.writeUInt16LE(20, at);
  fixed.writeUInt16LE(deflated ? 8 : 0, at + 4);
  fixed.writeUInt32LE(crc32(bytes), at + 10);
  fixed.writeUInt32LE((deflated ?? bytes).length, at + 14);
  fixed.writeUInt32LE(bytes.length, at + 18);
  fixed.writeUInt16LE(text.length, at + 22);
  return Buffer.concat([fixed, text]);
}
