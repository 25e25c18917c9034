import type { HashId } from '../base/ports.ts';

/** Tiles and entry bundles of a log (c2sp.org/tlog-tiles): what is served under which path, and how it is written. */

/** Hashes of a full tile, and entries of a full bundle. */
export const TILE_WIDTH = 256;
const TILE_LEVELS = 8;
/** Beyond this no index of a subtree is exact. */
const MAX_LEVEL = 5;
const LENGTH_BYTES = 2;

/** A tile of hashes, or with the level `entries` a bundle of entries. */
export interface Tile {
  readonly level: number | 'entries';
  readonly index: number;
  /** Below `TILE_WIDTH` at the end of the tree alone. */
  readonly width: number;
}

const TILE_PATH = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** The tile of a path below the prefix of a log; undefined where no log can have one. */
export function parseTilePath(path: string): Tile | undefined {
  const [, level = '', digits = '', partial] = TILE_PATH.exec(path) ?? [];
  const index = Number(digits.replaceAll(/[x/]/g, ''));
  const width = partial === undefined ? TILE_WIDTH : Number(partial);
  const tile = { level: level === 'entries' ? level : Number(level), index, width } as const;
  const isCanonical = digits !== '' && tilePath(tile) === path;
  return isCanonical && (tile.level === 'entries' || tile.level <= MAX_LEVEL) ? tile : undefined;
}

export function tilePath({ level, index, width }: Tile): string {
  const groups =
    String(index)
      .padStart(Math.ceil(String(index).length / 3) * 3, '0')
      .match(/\d{3}/g) ?? [];
  const digits = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${digits}${width < TILE_WIDTH ? `.p/${width}` : ''}`;
}

/** Returns true if a log of a size has a tile, complete or partial at an earlier size. */
export function hasTile({ level, index, width }: Tile, size: number): boolean {
  const span = level === 'entries' ? 1 : TILE_WIDTH ** level;
  return (index * TILE_WIDTH + width) * span <= size;
}

/** Returns the hashes in a tile, in order. */
export function hashesIn({ index, width }: Tile, level: number): HashId[] {
  return Array.from({ length: width }, (_, at) => ({ level: level * TILE_LEVELS, index: index * TILE_WIDTH + at }));
}

/** The tiles of one level that a log of a size has. */
export function tilesOf(level: 0 | 'entries', size: number): Tile[] {
  const full = Math.floor(size / TILE_WIDTH);
  const tiles = Array.from({ length: full }, (_, index): Tile => ({ level, index, width: TILE_WIDTH }));
  const rest = size - full * TILE_WIDTH;
  return rest === 0 ? tiles : [...tiles, { level, index: full, width: rest }];
}

/** @param leaves at most 65,535 bytes each (`leafDataOf`) */
export function encodeBundle(leaves: readonly string[]): Uint8Array {
  return Buffer.concat(
    leaves.flatMap((leaf) => {
      const data = Buffer.from(leaf);
      const length = Buffer.alloc(LENGTH_BYTES);
      length.writeUInt16BE(data.length);
      return [length, data];
    }),
  );
}

/** Undefined where the bytes are not exactly so many entries. */
export function decodeBundle(bytes: Uint8Array, width: number): Uint8Array[] | undefined {
  const leaves: Uint8Array[] = [];
  let at = 0;
  while (at + LENGTH_BYTES <= bytes.length && leaves.length < width) {
    const end = at + LENGTH_BYTES + (((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0));
    if (end > bytes.length) return undefined;
    leaves.push(bytes.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return at === bytes.length && leaves.length === width ? leaves : undefined;
}

/** Undefined where the bytes are not exactly so many hashes. */
export function decodeTile(bytes: Uint8Array, width: number): Uint8Array[] | undefined {
  if (bytes.length !== width * 32) return undefined;
  return Array.from({ length: width }, (_, at) => bytes.subarray(at * 32, (at + 1) * 32));
}
