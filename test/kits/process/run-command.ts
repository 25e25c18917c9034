import { execFile } from 'node:child_process';
import path from 'node:path';

/** Where the launchers of this version are. */
export const BIN = path.resolve(import.meta.dirname, '../../../bin');

/** Where compiled code is kept between commands, whose homes are new each time; set by vitest.config.ts. */
export const COMPILE_CACHE = { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' };

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly timeoutMs?: number;
}

/** The launcher of a command, for whoever starts it themselves; of another version from its `bin/`. */
export const launcher = (name: 'mesh' | 'meshd', bin = BIN) => path.join(bin, name);

/** Runs `bin/mesh` as a user does, with its session in the directory `home`. */
export function mesh(
  args: readonly string[],
  { home, env = {}, ...options }: RunOptions & { readonly home: string },
): Promise<Ran> {
  return run(launcher('mesh'), args, {
    timeoutMs: 30_000,
    ...options,
    env: { HOME: home, ...COMPILE_CACHE, MESH_CONFIG_DIR: home, ...env },
  });
}

/** As after an install that puts `mesh` on PATH: hints name it so. */
const PATH = `${BIN}:${process.env['PATH']}`;

/** Runs a program to its end, with nothing of this process's own settings but the path; answers any exit code. */
export function run(
  file: string,
  args: readonly string[],
  { env = {}, stdin = '', timeoutMs = 60_000 }: RunOptions = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const options = { env: { PATH, ...env }, timeout: timeoutMs, maxBuffer: 16_777_216 };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const code = error ? error.code : 0;
      if (typeof code === 'number') resolve({ code, stdout, stderr });
      else reject(new Error(`${file} ${args.join(' ')} did not end by itself:\n${stdout}${stderr}`, { cause: error }));
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}
