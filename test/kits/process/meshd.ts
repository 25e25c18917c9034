import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { COMPILE_CACHE } from './run-command.ts';

/** A `meshd` of its own process, started as a user starts it, on free loopback ports. */

const FREE_PORTS = {
  MESH_LISTEN: '127.0.0.1:0',
  MESH_BUS_LISTEN: '127.0.0.1:0',
  MESH_RELAY_LISTEN: '127.0.0.1:0',
  MESH_STUN_LISTEN: '127.0.0.1:0',
};

/** Levels are numbers there: 50 is an error, 60 the end. */
const ERROR = /^\{"level":[56]0,.*$/gm;

export interface MeshdOptions {
  readonly directory?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Instead of `bin/meshd --standalone`, in a process group of its own; the configuration directory is appended. */
  readonly command?: readonly [string, ...string[]];
}

export interface Meshd {
  readonly child: ChildProcess;
  readonly directory: string;
  stdout(): string;
  stderr(): string;
  /** Lines of its log that tell of an error. */
  errors(): string[];
  /** Resolves with the exit code once the process and its pipes have ended. */
  readonly ended: Promise<number | null>;
  /** Resolves with the address of the API once it is announced. @throws Error when the process ends before */
  ready(): Promise<string>;
  /** Ends it and answers its exit code. */
  stop(): Promise<number | null>;
  /** To the process, while it runs. */
  signal(name: NodeJS.Signals): void;
}

export function freshDirectory(): string {
  return mkdtempSync(path.join(tmpdir(), 'meshd-'));
}

/** Nothing of the environment of the tests reaches it but the path. */
export function startMeshd({ directory = freshDirectory(), env = {}, command }: MeshdOptions = {}): Meshd {
  const [file, ...args] = command ?? ['bin/meshd', '--standalone'];
  const child = spawn(file, [...args, '--config-dir', directory], {
    env: { PATH: process.env['PATH'], HOME: directory, ...COMPILE_CACHE, ...FREE_PORTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: command !== undefined,
  });
  const text = { stdout: '', stderr: '' };
  let announced: (() => void) | undefined;
  child.stdout.on('data', (chunk: Buffer) => {
    text.stdout += chunk;
    if (/^then: /m.test(text.stdout)) announced?.();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    text.stderr += chunk;
  });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const signal = (name: NodeJS.Signals) => {
    const running = child.exitCode === null && child.signalCode === null;
    if (running && child.pid !== undefined) process.kill(command ? -child.pid : child.pid, name);
  };
  return {
    child,
    directory,
    stdout: () => text.stdout,
    stderr: () => text.stderr,
    errors: () => text.stderr.match(ERROR) ?? [],
    ended,
    async ready() {
      const up = new Promise<void>((resolve) => {
        announced = resolve;
      });
      if (!/^then: /m.test(text.stdout)) await Promise.race([up, ended]);
      const url = / API +(\S+)\/api\/v1 /.exec(text.stdout)?.[1];
      if (url === undefined) throw new Error(`meshd did not come up:\n${text.stderr}`);
      return url;
    },
    async stop() {
      signal('SIGTERM');
      return ended;
    },
    signal,
  };
}
