/**
 * The one form of a ZIP that the control plane sends (rest/send-archive.ts): each byte but the compressed data follows from the
 * names, sizes and checksums. Programs that unpack look at different headers, and at extra fields, modes and comments: an archive
 * in any other form may unpack to something that nobody signed.
 */

/** Facts of an entry in the directory of a ZIP, from which the headers are made. */
export interface ZipPart {
  readonly name: Uint8Array;
  /** Date and time of MS-DOS, as its bytes stand in a header. */
  readonly time: number;
  readonly crc32: number;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
}

/** Written by Unix, for whoever reads version 2.0; deflated, with sizes behind the data. */
const MADE_BY = 0x032d;
const NEEDS = 20;
const NEEDS_ZIP64 = 45;
const SIZES_FOLLOW = 0x8;
const DEFLATED = 8;
/** A regular file that all may read and its owner writes, with the archive bit of MS-DOS. */
const MODE = 0o100644 * 0x1_0000 + 0x20;
const MOST_32 = 0xffff_ffff;

/** An instant (ms) as the archive is written with it: in UTC, in steps of two seconds. */
export function dosTimeOf(at: number): number {
  const date = new Date(at);
  const day = ((date.getUTCFullYear() - 1980) * 16 + date.getUTCMonth() + 1) * 32 + date.getUTCDate();
  const time = (date.getUTCHours() * 64 + date.getUTCMinutes()) * 32 + Math.floor(date.getUTCSeconds() / 2);
  return day * 0x1_0000 + time;
}

/** A record of fixed length: a size in bytes with each value. */
function record(...fields: readonly (readonly [bytes: 2 | 4 | 8, value: number])[]): Buffer {
  return Buffer.concat(
    fields.map(([bytes, value]) => {
      const field = Buffer.alloc(8);
      field.writeBigUInt64LE(BigInt(value));
      return field.subarray(0, bytes);
    }),
  );
}

/** The header before the data of an entry. */
export function localHeader({ name, time }: ZipPart): Buffer {
  const fixed = record(
    [4, 0x04034b50],
    [2, NEEDS],
    [2, SIZES_FOLLOW],
    [2, DEFLATED],
    [4, time],
    [4, 0],
    [4, 0],
    [4, 0],
  );
  return Buffer.concat([fixed, record([2, name.length], [2, 0]), name]);
}

/** Checksum and sizes behind the data of an entry. */
export function dataDescriptor({ crc32, compressedSize, uncompressedSize }: ZipPart): Buffer {
  return record([4, 0x08074b50], [4, crc32], [4, compressedSize], [4, uncompressedSize]);
}

/** Everything behind the last entry. `offset` is where the header of an entry begins, `end` where the directory does. */
export function directoryOf(parts: readonly (ZipPart & { readonly offset: number })[], end: number): Buffer {
  const directory = Buffer.concat(parts.map(directoryEntry));
  const isLong = end > MOST_32;
  const count = isLong ? 0xffff : parts.length;
  const [size, at] = isLong ? [MOST_32, MOST_32] : [directory.length, end];
  return Buffer.concat([
    directory,
    ...(isLong ? [longEnd(parts.length, directory.length, end)] : []),
    record([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, at], [2, 0]),
  ]);
}

function directoryEntry(part: ZipPart & { readonly offset: number }): Buffer {
  const { name, time, crc32, compressedSize, uncompressedSize, offset } = part;
  const isLong = offset > MOST_32;
  const extra = isLong
    ? record([2, 1], [2, 24], [8, uncompressedSize], [8, compressedSize], [8, offset])
    : Buffer.alloc(0);
  const in32 = (value: number) => (isLong ? MOST_32 : value);
  return Buffer.concat([
    record([4, 0x02014b50], [2, MADE_BY], [2, isLong ? NEEDS_ZIP64 : NEEDS], [2, SIZES_FOLLOW], [2, DEFLATED]),
    record([4, time], [4, crc32], [4, in32(compressedSize)], [4, in32(uncompressedSize)]),
    record([2, name.length], [2, extra.length], [2, 0], [2, 0], [2, 0], [4, MODE], [4, in32(offset)]),
    name,
    extra,
  ]);
}

function longEnd(count: number, size: number, end: number): Buffer {
  const versions = [2, NEEDS_ZIP64] as const;
  return Buffer.concat([
    record([4, 0x06064b50], [8, 44], versions, versions, [4, 0], [4, 0], [8, count], [8, count], [8, size], [8, end]),
    record([4, 0x07064b50], [4, 0], [8, end + size], [4, 1]),
  ]);
}
