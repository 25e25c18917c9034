import { spawnSync } from 'node:child_process';

/** Whether a program that is no part of Node is here. Who lacks one skips its tests; `test/system-packages.sh` says so. */
export function isInstalled(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
}
