import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { outliveOutput } from '../../cli/closed-output.ts';
import { CliError, EXIT } from '../../cli/exit.ts';
import { tellParent } from '../../cli/node-daemon.ts';
import { noConfiguration } from '../../cli/node-directory.ts';
import { called } from '../../cli/own-command.ts';
import { Agent, type AgentEnd, type Started } from '../../client/agent/agent.ts';
import { type LocalRequest, localSocketPath, serveLocally } from '../../client/agent/local-socket.ts';
import { OverlayCollision } from '../../client/agent/overlay.ts';
import { type NodeConfig, readNodeConfig, writeNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import type { TunnelPlatform } from '../../client/tunnel/tunnel.ts';
import type { Log } from '../../core/base/ports.ts';
import { parseInstant } from '../../core/base/time.ts';
import { normalizeName } from '../../core/model/resources.ts';
import type { RelayAddress } from '../../net/relay/address.ts';
import { PLATFORM_CHOICES } from '../../platform/choice.ts';
import { type LockHolder, lockDirectory } from './lock.ts';
import { AGENT, INTERFACE, RUN_DIRECTORY } from './node-locks.ts';
import { buildNodeLog, logFileWriter, type NodeLogLevel } from './node-log.ts';
import { overlayParts } from './node-parts.ts';

export interface NodeOptions {
  readonly directory: string;
  readonly interfaceName: string;
  readonly listenPort: number;
  readonly busWaitMs: number;
  readonly busInClear: boolean;
  readonly level: NodeLogLevel;
  readonly systemLog: boolean;
  /** Another name for this node. */
  readonly name?: string;
  readonly relayOverride?: RelayAddress;
  /** Of a daemon; standard output otherwise. */
  readonly logDirectory?: string;
  /** The network namespace that the interface is put into. */
  readonly namespace?: string;
  /** Begun once it is up: what the node is for. The node ends with it. */
  readonly task?: () => Promise<number>;
  /** Told once it has come up, or why it has not yet. */
  readonly onStarted?: (greeting: Greeting) => void;
}

/** How a node stands once it has started. */
export interface Greeting {
  readonly name: string;
  readonly state: Started['state'];
  readonly address: string | null;
  readonly interface: string;
  /** The same for people. */
  readonly line: string;
}

/** Longer than a clean end ever takes. */
const STOP_MS = 8_000;
const CLOCK_SLACK_MS = 5_000;

/**
 * Runs the node of a directory until it is asked to end.
 *
 * @returns the exit code
 * @throws CliError when it cannot come up here
 */
export async function runNode(options: NodeOptions): Promise<number> {
  const { directory, interfaceName, logDirectory } = options;
  outliveOutput();
  refusePlatform(process.env['MESH_PLATFORM']);
  const log = buildNodeLog(options.level, lineWriter(logDirectory, interfaceName));
  const systemLog = options.systemLog ? buildNodeLog('debug', lineWriter(logDirectory, interfaceName)) : undefined;
  const parts = overlayParts(options.namespace);
  await refuseObstacles(parts.platform);
  const config = readNodeConfig(directory);
  if (!config) throw noConfiguration(directory);
  const locks = [locked(directory, AGENT), locked(path.join(RUN_DIRECTORY, interfaceName), INTERFACE)];
  try {
    const named = options.name === undefined ? config : await renamed(config, options.name, directory);
    const agent = new Agent({
      directory,
      config: named,
      interfaceName,
      listenPort: options.listenPort,
      busWaitMs: options.busWaitMs,
      busInClear: options.busInClear,
      ...(options.relayOverride && { relayOverride: options.relayOverride }),
      parts,
      ...(options.namespace !== undefined && { namespace: options.namespace }),
      clock: { now: Date.now },
      log,
      ...(systemLog && { systemLog }),
    });
    const socket = await serveLocally(localSocketPath(directory), (request) => answer(agent, request), log);
    const release = endOnSignals(agent, log);
    try {
      const greeting = greetingOf(await agent.start(), named, interfaceName);
      options.onStarted?.(greeting);
      await tellParent(greeting);
      const ends: Promise<AgentEnd | number>[] = [agent.ended];
      if (options.task) ends.push(agent.up.then(options.task));
      const end = await Promise.race(ends);
      if (typeof end === 'number') return end;
      log[end.why === 'asked' ? 'info' : 'warn']({}, `ending: ${end.detail}`);
      return exitCodeOfEnd(end, named);
    } catch (error) {
      if (error instanceof OverlayCollision) throw new CliError(error.message, EXIT.conflict);
      throw error;
    } finally {
      const late = setTimeout(() => process.exit(EXIT.unavailable), STOP_MS);
      await Promise.all([agent.stop(), socket.close()]);
      clearTimeout(late);
      release();
    }
  } finally {
    for (const lock of locks) lock.release();
  }
}

async function answer(agent: Agent, request: LocalRequest): Promise<unknown> {
  switch (request.ask) {
    case 'status':
      return agent.status();
    case 'hurry':
      if (!agent.hurry(request.peer)) throw new Error(`This node knows no peer ${request.peer}.`);
      return {};
    case 'rotate-key':
      return { publicKey: await agent.rotateKey() };
    case 'down':
      agent.askToEnd('mesh down');
      return {};
    default:
      return request satisfies never;
  }
}

function greetingOf(started: Started, { name }: NodeConfig, interfaceName: string): Greeting {
  const address = 'address' in started ? started.address : null;
  const lines = {
    up: () => `${name} is up as ${address} on ${interfaceName}.`,
    pending: () => `${name} is registered and waits for an administrator to approve it; it connects then by itself.`,
    revoked: () => `${name} was revoked: an administrator has to let it in again.`,
    removed: () => `${name} is not registered any more: run mesh init --force with a new token.`,
    away: () => `${name} has no graph yet (${'detail' in started ? started.detail : ''}); it goes on trying.`,
  };
  return { name, state: started.state, address, interface: interfaceName, line: called(lines[started.state]()) };
}

function refusePlatform(asked = ''): void {
  if (asked === '' || PLATFORM_CHOICES.some((choice) => choice === asked)) return;
  throw new CliError(`MESH_PLATFORM is "${asked}": set it to ${PLATFORM_CHOICES.join(' or ')}.`, EXIT.input);
}

async function refuseObstacles(platform: TunnelPlatform): Promise<void> {
  const obstacles = await platform.obstacles();
  if (obstacles.length === 0) return;
  const lines = obstacles.map(({ missing, remedy }) => `${missing}\n  ${remedy}`);
  throw new CliError(['This machine cannot make a tunnel:', ...lines].join('\n'), EXIT.needsRoot);
}

function locked(directory: string, holder: LockHolder): { release(): void } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  try {
    return lockDirectory(directory, holder);
  } catch (error) {
    throw new CliError((error as Error).message, EXIT.conflict);
  }
}

/** @throws PlaneRefusal for a name that is taken */
async function renamed(config: NodeConfig, asked: string, directory: string): Promise<NodeConfig> {
  if (normalizeName(asked) === config.name) return config;
  const { name } = await new PlaneApi(config.server, config.deviceToken).rename(asked);
  const next = { ...config, name };
  writeNodeConfig(directory, next);
  return next;
}

function endOnSignals(agent: Agent, log: Log): () => void {
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
  const end = (signal: string) => agent.askToEnd(signal);
  const crash = (error: unknown) => {
    log.error({ error: (error as Error)?.stack ?? String(error) }, 'the node failed');
    process.exitCode = EXIT.unavailable;
    agent.askToEnd('a fault of its own');
  };
  for (const signal of signals) process.on(signal, end);
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  return () => {
    for (const signal of signals) process.off(signal, end);
    process.off('uncaughtException', crash);
    process.off('unhandledRejection', crash);
  };
}

function exitCodeOfEnd({ why }: AgentEnd, { expiresAt }: NodeConfig): number {
  if (why === 'asked') return Number(process.exitCode ?? EXIT.ok);
  // The control plane may say it a moment before the clock of this machine does.
  const isOver = expiresAt !== undefined && parseInstant(expiresAt) - Date.now() < CLOCK_SLACK_MS;
  return why === 'expired' || isOver ? EXIT.conflict : EXIT.notFound;
}

function lineWriter(logDirectory: string | undefined, interfaceName: string): (line: string) => void {
  if (logDirectory === undefined) return (line) => process.stderr.write(line);
  return logFileWriter(path.join(logDirectory, `${interfaceName}.log`));
}
