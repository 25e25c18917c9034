import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { isInstalled } from './needs.ts';

export const canBind = isInstalled('setpriv');

/** A command that is ended with the process that starts it, were that one killed. Only Linux can do so. */
export function bound(file: string, args: readonly string[]): [string, string[]] {
  return canBind ? ['setpriv', ['--pdeathsig', 'KILL', '--', file, ...args]] : [file, [...args]];
}

/** A new folder that is removed once this process has ended, were it killed: a pipe to who waits for that ends with it. */
export function boundFolder(parent: string, prefix: string): string {
  const folder = mkdtempSync(path.join(parent, prefix));
  // What wrote there ends at the same time, and may come in between once.
  const remove = 'cat; rm -rf "$0" || { sleep 1; rm -rf "$0"; }';
  const waiting = spawn('sh', ['-c', remove, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  waiting.unref();
  // Of a pipe, which is a socket here.
  (waiting.stdin as unknown as { unref(): void }).unref();
  return folder;
}
