import { statfsSync, statSync } from 'node:fs';
import path from 'node:path';

const MB = 1_048_576;

/** A backup on the disk of the store leaves the reserve, without which new records are refused. @throws Error */
export function requireRoom(from: string, to: string, reserveMb: number): void {
  const directory = path.dirname(path.resolve(to));
  if (statSync(directory, { throwIfNoEntry: false })?.dev !== statSync(from).dev) return;
  const { bavail, bsize } = statfsSync(directory);
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const [free, takes] = [bavail * bsize, size(from) + size(`${from}-wal`)];
  if (free - takes >= reserveMb * MB) return;
  const [freeMb, takesMb] = [Math.floor(free / MB), Math.ceil(takes / MB)];
  throw new Error(
    `${to} would be on the disk of the database, where ${freeMb} MB are free and it takes up to ${takesMb} MB: less than the reserve of ${reserveMb} MB would be left (MESH_STORE_RESERVE), below which new records are refused. Make room, or name a place on another disk.`,
  );
}
