import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface ProgramResult {
  /** 0 when it did what it was asked; null when it could not be started or did not end in time. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** There is no such program. */
  readonly isMissing?: boolean;
}

interface RunOptions {
  readonly stdin?: string;
  readonly timeoutMs?: number;
  /** A program that prints more is ended, and what it printed is cut off. */
  readonly maxBytes?: number;
}

/** Runs a program of the system to its end, without a shell. Never throws: what went wrong is in `stderr`. */
export function runProgram(
  file: string,
  args: readonly string[],
  { stdin = '', timeoutMs = 10_000, maxBytes = 16_777_216 }: RunOptions = {},
): Promise<ProgramResult> {
  return new Promise((resolve) => {
    const child = execFile(
      file,
      args,
      { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: maxBytes },
      (error, stdout, stderr) => {
        if (!error) resolve({ code: 0, stdout, stderr });
        else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr });
        else resolve({ code: null, stdout, stderr: `${stderr}${error.message}`, isMissing: error.code === 'ENOENT' });
      },
    );
    // A program that ends before it has read everything says so by its exit code.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}

export type RunProgram = typeof runProgram;

/** As `runProgram`, inside a network namespace. */
export function runIn(namespace: string): RunProgram {
  return (file, args, options) => runProgram('ip', ['netns', 'exec', namespace, file, ...args], options);
}

/** A program that runs until it is ended. */
export interface StartedProgram {
  /** Resolves when it has ended or could not be started. */
  readonly ended: Promise<void>;
  /** Closes its input, and ends it. */
  end(): Promise<void>;
}

/** @param onLine each line that it prints, of either output */
export type StartProgram = (file: string, args: readonly string[], onLine: (line: string) => void) => StartedProgram;

export const startProgram: StartProgram = (file, args, onLine) => {
  const child = spawn(file, args, {
    // Without a home nft keeps no history.
    env: { PATH: process.env['PATH'], HOME: '/nonexistent' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
  const ended = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
  return {
    ended,
    async end() {
      child.stdin.end();
      child.kill('SIGTERM');
      await ended;
    },
  };
};
