import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { COMPILE_CACHE, launcher } from '../kits/process/run-command.ts';

/** A command of `meshd` that can be killed. */
export function beginCommand(directory: string, ...args: string[]) {
  const child = spawn(launcher('meshd'), [...args, '--config-dir', directory], {
    env: { PATH: process.env['PATH'], HOME: directory, ...COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const text = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].on('data', (chunk: Buffer) => {
      text[stream] += chunk;
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { ended, stdout: () => text.stdout, stderr: () => text.stderr, kill: () => void child.kill('SIGKILL') };
}
