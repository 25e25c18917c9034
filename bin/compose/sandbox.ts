import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { type NodeEnd, NodeRefusal, type SandboxOptions } from '../../client/agent/launch.ts';
import { enrol } from '../../client/enrol/enrol.ts';
import { readNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { runProgram } from '../../client/run-program.ts';
import { runNode } from './node.ts';
import { VERSION } from './version.ts';

/** Time to end by itself after it was asked to. */
const END_MS = 3_000;

/**
 * Enrols a sub-agent and runs a command in a network namespace whose only interface is the overlay, under its preset. All
 * of it goes with the command, or with the time of the sub-agent.
 */
export async function runSandbox(options: SandboxOptions): Promise<NodeEnd> {
  const mark = randomBytes(4).toString('hex');
  const namespace = `mesh-${mark}`;
  const directory = `/run/mesh/sandbox-${mark}`;
  const enrolled = await enrol({ ...options, directory, platform: 'agent', version: VERSION, force: false });
  const { config } = enrolled;
  options.onEnrolled(enrolled);
  let child: ChildProcess | undefined;
  try {
    await makeNamespace(namespace);
    return await runNode({
      directory,
      namespace,
      interfaceName: `ms${mark}`,
      listenPort: 0,
      busWaitMs: options.busWaitMs,
      busInClear: options.busInClear,
      level: options.level,
      systemLog: false,
      dns: false,
      onStuck: options.onStuck,
      ...(options.onStarted && { onStarted: options.onStarted }),
      ...(options.relayOverride && { relayOverride: options.relayOverride }),
      ...(options.command.length > 0 && {
        task: () => {
          const env = { MESH_SERVER: config.server, MESH_TOKEN: config.agentToken ?? '' };
          child = startInside(namespace, options.command, env);
          return codeOf(child, options.command[0] ?? '');
        },
      }),
    });
  } finally {
    if (child) await end(child);
    await takeAway(namespace);
    await leave(directory);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function makeNamespace(namespace: string): Promise<void> {
  // Names resolve nowhere: there is no way to a resolver but through the overlay.
  mkdirSync(`/etc/netns/${namespace}`, { recursive: true });
  writeFileSync(`/etc/netns/${namespace}/resolv.conf`, '');
  await must(['netns', 'add', namespace]);
  await must(['-n', namespace, 'link', 'set', 'lo', 'up']);
  // Unprivileged ping: the command has no capability to open raw sockets.
  const allowPing = 'echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range';
  await runProgram('ip', ['netns', 'exec', namespace, 'sh', '-c', allowPing]);
}

/** As the user behind sudo where there is one, and without any capability: it cannot leave the namespace. */
function startInside(
  namespace: string,
  command: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const [user, group] = [process.env['SUDO_UID'], process.env['SUDO_GID']];
  const identity = user && group ? [`--reuid=${user}`, `--regid=${group}`, '--clear-groups'] : [];
  // Only ping may hold the one capability that is left; no-new-privs and noroot keep it from anything else.
  const without = ['--no-new-privs', '--securebits=+noroot', '--bounding-set=-all,+net_raw', '--inh-caps=-all'];
  const confined = ['setpriv', ...identity, ...without, '--'];
  return spawn('ip', ['netns', 'exec', namespace, ...confined, ...command], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
}

function codeOf(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new NodeRefusal('no-program', `${program} did not start: ${error.message}`)));
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(timer);
}

/** Whatever the command left running in there ends too. */
async function takeAway(namespace: string): Promise<void> {
  const { stdout } = await runProgram('ip', ['netns', 'pids', namespace]);
  for (const pid of stdout.split('\n').map(Number)) {
    if (pid > 1) kill(pid);
  }
  await runProgram('ip', ['netns', 'delete', namespace]);
  rmSync(`/etc/netns/${namespace}`, { recursive: true, force: true });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** The peer goes with the sandbox; one whose time is over is gone already. */
async function leave(directory: string): Promise<void> {
  const config = readNodeConfig(directory);
  if (config) await new PlaneApi(config.server, config.deviceToken).leave().catch(() => undefined);
}

async function must(args: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram('ip', args);
  if (code !== 0) throw new NodeRefusal('no-namespace', `ip ${args.join(' ')} failed: ${stderr.trim()}`);
}
