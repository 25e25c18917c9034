import { diskOf } from '../disk.ts';
import { type Check, failed, ok, warning } from './check.ts';

const MB = 1_048_576;
/** A backup beside the database, and room to upgrade it. */
const SPARE = 3;

export const checkSpace: Check = ({ file, config }) => {
  const disk = diskOf(file?.path, config.env.MESH_STORE_RESERVE * MB);
  const free = disk.free();
  if (file === undefined || free === undefined) return [ok('The store takes no space on this disk.')];
  const { database, wal } = disk.sizes();
  const said = `${inMb(free)} MB are free beside the database, which has ${inMb(database + wal)} MB`;
  if (disk.isFull()) return [failed(`${said}: new records are refused below ${inMb(disk.reserve)} MB. Make room.`)];
  const needed = disk.reserve + SPARE * (database + wal);
  if (free < needed) return [warning(`${said}: backups and upgrades need ${inMb(needed)} MB. Make room.`)];
  return [ok(`${said}.`)];
};

function inMb(bytes: number): number {
  return Math.floor(bytes / MB);
}
