import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

/** The one of util-linux: that of macOS takes other arguments. */
function hasScript(): boolean {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8', stdio: 'pipe' }).includes('util-linux');
  } catch {
    return false;
  }
}

export const hasTerminal = hasScript();

/** What a person types once the terminal shows something. */
export interface Typed {
  readonly after: string;
  readonly keys: string;
}

/** Runs a shell command on a pseudo-terminal. @returns all that the terminal showed, and the exit code */
export async function onTerminal(
  command: string,
  typed: readonly Typed[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; shown: string }> {
  const child = spawn('script', ['-qefc', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], SHELL: '/bin/sh', TERM: 'dumb', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const waiting = [...typed];
  let shown = '';
  let seen = 0;
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    shown += chunk;
    for (let [next] = waiting; next; [next] = waiting) {
      const at = shown.indexOf(next.after, seen);
      if (at < 0) break;
      seen = at + next.after.length;
      waiting.shift();
      child.stdin.write(next.keys);
    }
  }
  const [code] = await exited;
  child.stdin.destroy();
  return { code, shown: shown.replaceAll('\r\n', '\n') };
}
