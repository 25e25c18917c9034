import { execFile } from 'node:child_process';
import path from 'node:path';

const BIN = path.resolve(import.meta.dirname, '../bin');

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Directory of the session. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Runs `bin/mesh` as a user does, with nothing of this process's own settings. */
export function mesh(args: readonly string[], { home, env = {}, stdin = '' }: RunOptions): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const surroundings = { PATH: process.env['PATH'], HOME: home, MESH_CONFIG_DIR: home, ...env };
    const options = { env: surroundings, timeout: 30_000 };
    const child = execFile(path.join(BIN, 'mesh'), args, options, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(error);
    });
    child.stdin?.end(stdin);
  });
}

/** The launcher of a command, for whoever starts it themselves. */
export const launcher = (name: 'mesh' | 'meshd') => path.join(BIN, name);
