import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { type NodeEnd, NodeRefusal, type SandboxOptions } from '../../client/agent/launch.ts';
import { buildNodeLog } from '../../client/agent/node-log.ts';
import { enrol } from '../../client/enrol/enrol.ts';
import { runProgram } from '../../client/run-program.ts';
import { sandboxObstacles } from '../../client/tunnel/platform.ts';
import {
  closeInherited,
  confined,
  type SandboxHome,
  type SandboxUser,
  sandboxEnvironment,
  sandboxHomeFor,
  sandboxUser,
  startConfined,
  tryConfinement,
} from './confinement.ts';
import { refuseObstacles, runNode } from './node.ts';
import { lockSandbox, removeSandbox, removeStaleSandboxes, sandboxNames } from './sandbox-leftovers.ts';
import { tryOverlay } from './try-overlay.ts';
import { VERSION } from './version.ts';

/** Time to end by itself after it was asked to. */
const END_MS = 5_000;

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;

/**
 * Enrols a sub-agent and runs a command in a network namespace whose only interface is the overlay, under its preset. All
 * of it goes with the command, or with the time of the sub-agent. The token is used once the host has shown that it can.
 *
 * @throws NodeRefusal
 */
export async function runSandbox(options: SandboxOptions): Promise<NodeEnd> {
  refuseObstacles('run a sandbox', await sandboxObstacles(process.platform));
  closeInherited();
  await removeStaleSandboxes();
  const names = sandboxNames(randomBytes(4).toString('hex'));
  const { namespace, interfaceName, directory } = names;
  const user = sandboxUser(process.env);
  const signals = rememberSignals();
  const lock = lockSandbox(names);
  try {
    await makeNamespace(namespace);
    const place = await sandboxHomeFor(
      user,
      await tryConfinement(namespace, user, options.command[0]),
      names.temporary,
    );
    await tryOverlay(
      interfaceName,
      namespace,
      buildNodeLog(options.level, (line) => process.stderr.write(line)),
      signals.ending,
    ).catch((error: unknown) => {
      if (signals.first() === undefined) throw error;
    });
    const beforeEnrolment = signals.first();
    if (beforeEnrolment !== undefined) return endBy(beforeEnrolment);
    const enrolled = await enrol({ ...options, directory, platform: 'agent', version: VERSION, force: false }).catch(
      (error: unknown) => {
        if (signals.first() === undefined) throw error;
      },
    );
    if (enrolled) options.onEnrolled(enrolled);
    const early = signals.first();
    if (early !== undefined || !enrolled) return endBy(early ?? 'SIGTERM');
    const { server, agentToken = '' } = enrolled.config;
    const end = await runNode({
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
        task: taskOf(namespace, user, options, place, signals.first, { MESH_SERVER: server, MESH_TOKEN: agentToken }),
      }),
    });
    const signal = signals.first();
    // Its command never began.
    return end.why === 'asked' && signal !== undefined && options.command.length > 0 ? endBy(signal) : end;
  } finally {
    await removeSandbox(names);
    lock.release();
    signals.release();
  }
}

type EndSignal = (typeof SIGNALS)[number];

const endBy = (signal: EndSignal): NodeEnd => ({ why: 'task', exitCode: 128 + constants.signals[signal] });

/** No signal ends this process by itself: it would leave the namespace. */
function rememberSignals(): { readonly ending: AbortSignal; first(): EndSignal | undefined; release(): void } {
  const ending = new AbortController();
  let first: EndSignal | undefined;
  const remember = (signal: NodeJS.Signals) => {
    first ??= signal as EndSignal;
    ending.abort();
  };
  for (const signal of SIGNALS) process.on(signal, remember);
  return {
    ending: ending.signal,
    first: () => first,
    release() {
      for (const signal of SIGNALS) process.off(signal, remember);
    },
  };
}

function taskOf(
  namespace: string,
  user: SandboxUser,
  { command, env }: SandboxOptions,
  place: SandboxHome,
  signal: () => EndSignal | undefined,
  own: Readonly<Record<string, string>>,
): (ending: AbortSignal) => Promise<number> {
  return (ending) => {
    const line = confined(namespace, user, place, command);
    const child = startConfined(line, sandboxEnvironment(process.env, env, { ...own, HOME: place.home }));
    const exitCode = codeOf(child, command[0] ?? '');
    // unshare(1) itself ends by the others.
    const end = () => endGroup(child, exitCode, signal() === 'SIGINT' ? 'SIGINT' : 'SIGTERM');
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
function endGroup(child: ChildProcess, hasEnded: Promise<unknown>, signal: EndSignal): void {
  const send = (what: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, what);
    } catch {
      // It has ended by itself.
    }
  };
  send(signal);
  const timer = setTimeout(send, END_MS, 'SIGKILL');
  const settle = () => clearTimeout(timer);
  hasEnded.then(settle, settle);
}

async function must(args: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram('ip', args);
  if (code === 0) return;
  throw new NodeRefusal(
    'no-namespace',
    `This machine cannot run a sandbox: ip ${args.join(' ')} failed: ${stderr.trim()}. The token was not used.`,
  );
}
