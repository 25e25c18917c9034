import { flushCompileCache, getCompileCacheDir } from 'node:module';

/** Set for the process that begins again, so that it does so once. */
const AGAIN = 'MESH_COMPILED';
const COMPILER = 'NativeModule internal/deps/amaro/dist/index';

/**
 * Begins this process again, under its number, when it had to compile its own code: the first start after an update would
 * hold 30 MB for the compiler as long as it runs. Returns when there is nothing to gain.
 */
export function beginAgainCompiled(): void {
  const { env, execPath, execArgv, argv, execve, moduleLoadList } = process as typeof process & {
    readonly moduleLoadList?: readonly string[];
  };
  const isAgain = env[AGAIN] !== undefined;
  delete env[AGAIN];
  if (isAgain || !moduleLoadList?.includes(COMPILER) || !execve || !getCompileCacheDir()) return;
  flushCompileCache();
  execve(execPath, [execPath, ...execArgv, ...argv.slice(1)], { ...env, [AGAIN]: '1' });
}
