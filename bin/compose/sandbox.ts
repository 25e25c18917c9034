import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { type NodeEnd, NodeRefusal, type SandboxOptions } from '../../client/agent/launch.ts';
import { enrol } from '../../client/enrol/enrol.ts';
import { readNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { RUN_DIRECTORY } from '../../client/run-directory.ts';
import { runProgram } from '../../client/run-program.ts';
import { sandboxObstacles } from '../../client/tunnel/platform.ts';
import {
  closeInherited,
  confined,
  placeFor,
  type SandboxPlace,
  type SandboxUser,
  sandboxEnvironment,
  sandboxUser,
  startConfined,
  tryConfinement,
} from './confinement.ts';
import { refuseObstacles, runNode } from './node.ts';
import { VERSION } from './version.ts';

/** Time to end by itself after it was asked to. */
const END_MS = 5_000;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/**
 * Enrols a sub-agent and runs a command in a network namespace whose only interface is the overlay, under its preset. All
 * of it goes with the command, or with the time of the sub-agent. The token is used once the host has shown that it can.
 *
 * @throws NodeRefusal
 */
export async function runSandbox(options: SandboxOptions): Promise<NodeEnd> {
  refuseObstacles('run a sandbox', await sandboxObstacles(process.platform));
  closeInherited();
  const mark = randomBytes(4).toString('hex');
  const namespace = `mesh-${mark}`;
  const interfaceName = `ms${mark}`;
  const directory = path.join(RUN_DIRECTORY, `sandbox-${mark}`);
  const user = sandboxUser(process.env);
  const early = rememberSignals();
  let place: SandboxPlace | undefined;
  try {
    await makeNamespace(namespace);
    const found = await tryConfinement(namespace, user, options.command[0]);
    place = await placeFor(user, found, `/tmp/mesh-sandbox-${mark}`);
    const enrolled = await enrol({ ...options, directory, platform: 'agent', version: VERSION, force: false });
    options.onEnrolled(enrolled);
    const signal = early.release();
    if (signal !== undefined) return { why: 'task', exitCode: 128 + constants.signals[signal] };
    const { server, agentToken = '' } = enrolled.config;
    return await runNode({
      directory,
      namespace,
      interfaceName,
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
        task: taskOf(namespace, user, options, place, { MESH_SERVER: server, MESH_TOKEN: agentToken }),
      }),
    });
  } finally {
    early.release();
    await takeAway(namespace);
    await leave(directory);
    for (const left of [directory, path.join(RUN_DIRECTORY, interfaceName)])
      rmSync(left, { recursive: true, force: true });
    // By rm(1), which follows no link that the command left there.
    if (place?.temporary !== undefined) await runProgram('rm', ['-rf', '--one-file-system', '--', place.temporary]);
  }
}

/** Until the node looks at signals itself none ends this process: it would leave the namespace. */
function rememberSignals(): { release(): (typeof SIGNALS)[number] | undefined } {
  let first: (typeof SIGNALS)[number] | undefined;
  const remember = (signal: NodeJS.Signals) => {
    first ??= signal as (typeof SIGNALS)[number];
  };
  for (const signal of SIGNALS) process.on(signal, remember);
  return {
    release() {
      for (const signal of SIGNALS) process.off(signal, remember);
      return first;
    },
  };
}

function taskOf(
  namespace: string,
  user: SandboxUser,
  { command, env }: SandboxOptions,
  place: SandboxPlace,
  own: Readonly<Record<string, string>>,
): (ending: AbortSignal) => Promise<number> {
  return (ending) => {
    const line = confined(namespace, user, place, command);
    const child = startConfined(line, sandboxEnvironment(process.env, env, { ...own, HOME: place.home }));
    const exitCode = codeOf(child, command[0] ?? '');
    const end = () => endGroup(child, exitCode);
    if (ending.aborted) end();
    ending.addEventListener('abort', end, { once: true });
    return exitCode;
  };
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

/** As a shell tells it: 128 and the number of the signal that ended it. */
function codeOf(child: ChildProcess, program: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => reject(new NodeRefusal('no-program', `${program} did not start: ${error.message}`)));
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/** Asks the processes of a command to end, as a shell asks those of a job, and then ends them. */
function endGroup(child: ChildProcess, hasEnded: Promise<unknown>): void {
  const send = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // It has ended by itself.
    }
  };
  send('SIGTERM');
  const timer = setTimeout(send, END_MS, 'SIGKILL');
  const settle = () => clearTimeout(timer);
  hasEnded.then(settle, settle);
}

async function takeAway(namespace: string): Promise<void> {
  await runProgram('ip', ['netns', 'delete', namespace]);
  rmSync(`/etc/netns/${namespace}`, { recursive: true, force: true });
}

/** The peer goes with the sandbox; one whose time is over is gone already. */
async function leave(directory: string): Promise<void> {
  const config = readNodeConfig(directory);
  if (config) await new PlaneApi(config.server, config.deviceToken).leave().catch(() => undefined);
}

async function must(args: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram('ip', args);
  if (code === 0) return;
  throw new NodeRefusal(
    'no-namespace',
    `This machine cannot run a sandbox: ip ${args.join(' ')} failed: ${stderr.trim()}. The token was not used.`,
  );
}
