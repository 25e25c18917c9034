import path from 'node:path';

/** Holder of a directory, and the message for whoever finds it locked. */
interface Holder {
  readonly pidFile: string;
  readonly lockFile: string;
  refusal(directory: string, pid: string): string;
}

/** Locks a configuration directory. */
export const AGENT: Holder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The node of ${directory} is up already (pid ${pid}). End that one, or give another --config-dir.`,
};

/** Locks a directory in `RUN_DIRECTORY`. */
export const INTERFACE: Holder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The interface ${path.basename(directory)} is in use by another node (pid ${pid}). Give another --interface.`,
};
