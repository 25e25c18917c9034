import path from 'node:path';

/** Who holds a directory, and what is said to whoever finds it held. */
interface Holder {
  readonly pidFile: string;
  readonly lockFile: string;
  refusal(directory: string, pid: string): string;
}

/** Of a configuration directory. */
export const AGENT: Holder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The node of ${directory} is up already (pid ${pid}). End that one, or give another --config-dir.`,
};

/** Of a directory in `RUN_DIRECTORY`. */
export const INTERFACE: Holder = {
  pidFile: 'mesh.pid',
  lockFile: 'mesh.lock',
  refusal: (directory, pid) =>
    `The interface ${path.basename(directory)} is in use by another node (pid ${pid}). Give another --interface.`,
};
