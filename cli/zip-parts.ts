import type { Entry, LocalFileHeader, ZipFile } from 'yauzl';

/**
 * Whether every byte of a ZIP is one that its directory tells of. Programs that unpack from the beginning do not look at the
 * directory: what lies between its entries, or after the data of one, they unpack too, under names that nobody verified.
 */

/** Where an entry lies, with its own header. */
export interface ZipPart {
  readonly name: string;
  readonly entry: Entry;
  readonly local: LocalFileHeader;
}

const SIZES_FOLLOW = 0x8;
/** CRC and sizes after the data, with a signature or without, in ZIP64 or not. */
const DESCRIPTOR_BYTES: ReadonlySet<number> = new Set([12, 16, 20, 24]);
/** The end of the directory; in ZIP64 with a record and a locator before it. */
const END_BYTES: ReadonlySet<number> = new Set([22, 22 + 20 + 56]);

/** Where the directory begins, or as much of it as was read ends. */
export function cursorOf(zip: ZipFile): number {
  return Number(zip.readEntryCursor);
}

/** @param directory where it begins and ends. @throws Error */
export function requireNothingBetween(
  parts: readonly ZipPart[],
  directory: { readonly from: number; readonly to: number },
  fileSize: number,
): void {
  let end = 0;
  let follows: ReadonlySet<number> = NOTHING;
  for (const { name, entry, local } of parts.toSorted((a, b) => offsetOf(a) - offsetOf(b))) {
    requireSameHeaders(name, entry, local);
    if (!follows.has(entry.relativeOffsetOfLocalHeader - end)) throw new Error(`${BETWEEN} before the entry ${name}`);
    end = local.fileDataStart + entry.compressedSize;
    follows = hasSizesAfter(local) ? DESCRIPTOR_BYTES : NOTHING;
  }
  if (!follows.has(directory.from - end)) throw new Error(`${BETWEEN} before its directory`);
  if (!END_BYTES.has(fileSize - directory.to)) throw new Error(`${BETWEEN} after its directory`);
}

const NOTHING: ReadonlySet<number> = new Set([0]);
const BETWEEN = 'it has bytes that belong to none of its entries,';

function offsetOf({ entry }: ZipPart): number {
  return entry.relativeOffsetOfLocalHeader;
}

function hasSizesAfter({ generalPurposeBitFlag }: LocalFileHeader): boolean {
  return (generalPurposeBitFlag & SIZES_FOLLOW) !== 0;
}

function requireSameHeaders(name: string, entry: Entry, local: LocalFileHeader): void {
  const fields = ['crc32', 'compressedSize', 'uncompressedSize'] as const;
  const isSame =
    local.compressionMethod === entry.compressionMethod &&
    local.generalPurposeBitFlag === entry.generalPurposeBitFlag &&
    fields.every((field) => local[field] === entry[field] || (hasSizesAfter(local) && local[field] === 0));
  if (!isSame) throw new Error(`the entry ${name} has another size or compression in its own header`);
}
