import path from 'node:path';
import type { LockHolder } from '../../storage/directory-lock.ts';

/** What nodes of this host hold, a directory for each interface. */
export const RUN_DIRECTORY = '/var/run/mesh';

/** Of a configuration directory. */
export const AGENT: LockHolder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The node of ${directory} is up already (pid ${pid}). Stop it with mesh down, or use another --config-dir.`,
};

/** Of a directory in `RUN_DIRECTORY`. */
export const INTERFACE: LockHolder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The interface ${path.basename(directory)} is in use by another node (pid ${pid}). Give another --interface.`,
};
