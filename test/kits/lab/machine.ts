import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { type Ran, run } from '../process/run-command.ts';
import type { LabHost } from './natlab.ts';

/** Longer than any test: a machine whose test was killed ends by itself. */
const LIMIT_S = 900;
const AGAIN_MS = 50;
/** Longer than a page's commands wait for a service on a busy host: thirty tries of curl, each of some seconds. */
const COMMANDS_MS = 180_000;

/** A host of a lab with a systemd of its own, on which everything that is written stays its own. */
export interface Machine {
  /** Runs commands in a shell as root, until the first that fails. */
  run(commands: string): Promise<Ran>;
  /** As `run`. @throws Error with what they said where one fails */
  must(commands: string): Promise<string>;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function bootMachine(host: LabHost): Promise<Machine> {
  const shared = mkdtempSync(path.join(tmpdir(), 'mesh-machine-'));
  const script = path.join(import.meta.dirname, 'in-systemd.sh');
  const child = spawn('sh', [script, host.namespace, shared, `${LIMIT_S}`], { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const leader = await leaderOf(host.namespace, () => child.exitCode !== null);
  if (leader === undefined) throw new Error(readFileSync(path.join(shared, 'console'), 'utf8'));
  const shell = (commands: string) =>
    run('nsenter', ['--all', '--target', `${leader}`, 'env', '-i', `PATH=${PATH}`, 'HOME=/root', 'sh', '-eu'], {
      stdin: commands,
      timeoutMs: COMMANDS_MS,
    });
  const machine: Machine = {
    run: shell,
    async must(commands) {
      const { code, stdout, stderr } = await shell(commands);
      if (code !== 0) {
        const { stdout: journal } = await shell(
          'journalctl --no-pager --lines 12; tail -n 15 /var/log/mongodb/mongod.log',
        );
        throw new Error(`${host.name} ended with ${code}:\n${commands}\n${stdout}${stderr}\n${journal}`);
      }
      return stdout;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) process.kill(leader, 'SIGKILL');
      await ended;
      rmSync(shared, { recursive: true, force: true });
    },
  };
  await machine.must('until systemctl is-active --quiet basic.target; do sleep 0.1; done');
  return machine;
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** The first process of a container, once it is systemd; undefined where it has ended. */
async function leaderOf(name: string, hasEnded: () => boolean): Promise<number | undefined> {
  while (!hasEnded()) {
    const { stdout } = await run('pgrep', ['-f', `^systemd-nspawn .*--machine=${name} `]);
    const children = stdout.split('\n').flatMap((pid) => textOf(`/proc/${pid}/task/${pid}/children`).split(' '));
    const leader = children.find((pid) => pid !== '' && textOf(`/proc/${pid}/comm`) === 'systemd\n');
    if (leader !== undefined) return Number(leader);
    await after(AGAIN_MS);
  }
  return undefined;
}

/** Empty for a process that has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
