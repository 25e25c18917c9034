import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Agent, type AgentEnd, type Started } from '../../client/agent/agent.ts';
import { type Greeting, type NodeEnd, type NodeOptions, NodeRefusal } from '../../client/agent/launch.ts';
import { type LocalRequest, localSocketPath, serveLocally } from '../../client/agent/local-socket.ts';
import { AGENT, INTERFACE } from '../../client/agent/node-locks.ts';
import { buildNodeLog, logFileWriter } from '../../client/agent/node-log.ts';
import { forgetNode, lostNodeOf, type NodeTrace, nodesOf, recordNode } from '../../client/agent/node-traces.ts';
import { RouteRefused } from '../../client/agent/overlay.ts';
import { GraphFile } from '../../client/control/graph-file.ts';
import { type NodeConfig, readNodeConfig, writeNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { makePrivateDirectory } from '../../client/enrol/private-file.ts';
import { type RenameOutcome, renameNode } from '../../client/enrol/rename.ts';
import type { HostRules } from '../../client/firewall/host/host-rules.ts';
import { NameService } from '../../client/names/name-service.ts';
import { hostResolvers } from '../../client/names/resolvers/host.ts';
import { withRouteSettings } from '../../client/routes/route-settings.ts';
import { RUN_DIRECTORY } from '../../client/run-directory.ts';
import { tunnelPlatform } from '../../client/tunnel/platform.ts';
import type { Obstacle } from '../../client/tunnel/tunnel.ts';
import { MeshError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/ports.ts';
import { parseInstant } from '../../core/base/time.ts';
import { PLATFORM_CHOICES } from '../../platform/choice.ts';
import { type LockHolder, lockDirectory } from '../../storage/directory-lock.ts';
import { overlayParts } from './node-parts.ts';
import { VERSION } from './version.ts';

/** Longer than a clean end ever takes. */
const STOP_MS = 8_000;
const CLOCK_SLACK_MS = 5_000;

/**
 * Runs the node of a directory until it is asked to end.
 *
 * @throws NodeRefusal when it cannot come up here
 */
export async function runNode(options: NodeOptions): Promise<NodeEnd> {
  const { directory, interfaceName, logDirectory } = options;
  refusePlatform(process.env['MESH_PLATFORM']);
  const log = buildNodeLog(options.level, lineWriter(logDirectory, interfaceName));
  const systemLog = options.systemLog ? buildNodeLog('debug', lineWriter(logDirectory, interfaceName)) : undefined;
  refuseObstacles('make a tunnel', await tunnelPlatform(process.platform).obstacles());
  const config = readNodeConfig(directory);
  if (!config) throw new NodeRefusal('not-configured', `${directory} holds no configuration of a node.`);
  const locks = [locked(directory, AGENT), locked(path.join(RUN_DIRECTORY, interfaceName), INTERFACE)];
  // A sandbox has a network of its own, which goes whole.
  const left = options.namespace === undefined ? leftoverNode(options) : undefined;
  if (options.namespace === undefined) {
    recordNode({ directory, interfaceName, wireguardPort: options.listenPort });
  }
  const parts = overlayParts(directory, options.namespace, left);
  try {
    const { config: named, kept } = await withName(
      await withRoutes(config, parts.hostRules(interfaceName), options),
      options,
    );
    if (kept !== undefined) log.warn({}, nameKeptLine(named.name, kept));
    const agent = new Agent({
      directory,
      config: named,
      ...(kept !== undefined && options.name !== undefined && { newName: { name: options.name, detail: kept } }),
      version: VERSION,
      interfaceName,
      listenPort: options.listenPort,
      busWaitMs: options.busWaitMs,
      busInClear: options.busInClear,
      ...(options.relayOverride && { relayOverride: options.relayOverride }),
      opensHost: options.opensHost === true,
      parts,
      ...(options.keyAgeMs !== undefined && { keyAgeMs: options.keyAgeMs }),
      ...(options.dns && {
        names: new NameService({ interfaceName, resolvers: hostResolvers(process.platform), log }),
      }),
      ...(options.namespace !== undefined && { namespace: options.namespace }),
      clock: { now: Date.now },
      log,
      ...(systemLog && { systemLog }),
    });
    const socket = await serveLocally(localSocketPath(directory), (request) => answer(agent, request), log);
    const signals = endOnSignals(agent, log);
    try {
      const started = await Promise.race([agent.start(), stopRequest(agent)]);
      if (started) await options.onStarted?.(greetingOf(started, named, options, kept));
      const task = new TaskRun(options.task, agent.up);
      const end = await Promise.race([agent.ended, task.ended]);
      if (typeof end === 'number') return { why: 'task', exitCode: end };
      log[end.why === 'asked' ? 'info' : 'warn']({}, `ending: ${end.detail}`);
      const exitCode = await task.end();
      if (signals.hasFailed()) return { why: 'failed' };
      if (exitCode !== undefined && end.why === 'asked') return { why: 'task', exitCode };
      return { why: reasonOf(end, named) };
    } catch (error) {
      if (error instanceof RouteRefused) throw new NodeRefusal('in-use', error.message);
      throw error;
    } finally {
      const late = setTimeout(options.onStuck, STOP_MS);
      await Promise.all([agent.stop(), socket.close()]);
      // If something stays, its note stays too, and `mesh down` removes it.
      if (agent.isClean) forgetNode(options);
      clearTimeout(late);
      signals.release();
    }
  } finally {
    for (const lock of locks) lock.release();
  }
}

const NEVER = new Promise<never>(() => {});

/** Resolves once a person or a signal asks a node to end. */
async function stopRequest({ ended }: Agent): Promise<undefined> {
  const { why } = await ended;
  return why === 'asked' ? undefined : NEVER;
}

/** The note of an agent that had this interface before and did not end in order. */
function leftoverNode({ directory, interfaceName }: NodeOptions): NodeTrace | undefined {
  const lost = lostNodeOf(directory);
  return [...nodesOf(directory), ...(lost ? [lost] : [])].find((node) => node.interfaceName === interfaceName);
}

/** The task of a node, which begins once the node is up. */
class TaskRun {
  /** Resolves with its exit code; never where there is no task. */
  readonly ended: Promise<number>;
  readonly #ending = new AbortController();
  #running: Promise<number> | undefined;

  constructor(task: NodeOptions['task'], up: Promise<unknown>) {
    this.ended = task ? up.then(() => this.#begin(task)) : NEVER;
  }

  #begin(task: NonNullable<NodeOptions['task']>): Promise<number> {
    if (this.#ending.signal.aborted) return NEVER;
    this.#running = task(this.#ending.signal);
    return this.#running;
  }

  /** Asks it to end, while the network is still there. @returns its exit code, undefined where it never began */
  end(): Promise<number | undefined> {
    this.#ending.abort();
    return this.#running ?? Promise.resolve(undefined);
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
    case 'open-firewall': {
      const hostFirewall = await agent.openFirewall();
      if (!hostFirewall)
        throw new Error('The overlay of this node is down: nothing was opened. It is once it comes up.');
      return hostFirewall;
    }
    case 'down':
      agent.askToEnd('mesh down');
      return {};
    default:
      return request satisfies never;
  }
}

function greetingOf(
  started: Started,
  { name }: NodeConfig,
  { interfaceName, directory }: NodeOptions,
  kept: string | undefined,
): Greeting {
  const address = 'address' in started ? started.address : null;
  const lines = {
    up: () => `${name} is up as ${address} on ${interfaceName}.`,
    pending: () => `${name} is registered and waits for an administrator to approve it; it connects then by itself.`,
    revoked: () => `${name} was revoked: an administrator has to let it in again.`,
    removed: () => `${name} is not registered any more.`,
    refused: () => `${name} is registered, and its overlay is down. ${'detail' in started ? started.detail : ''}`,
    away: () => `${name} has no graph yet (${'detail' in started ? started.detail : ''}); it goes on trying.`,
  };
  const hostFirewall = 'hostFirewall' in started ? started.hostFirewall : undefined;
  return {
    name,
    state: started.state,
    address,
    interface: interfaceName,
    directory,
    line: lines[started.state]() + (kept === undefined ? '' : ` ${nameKeptLine(name, kept)}`),
    ...(hostFirewall && { hostFirewall }),
  };
}

function refusePlatform(asked = ''): void {
  if (asked === '' || PLATFORM_CHOICES.some((choice) => choice === asked)) return;
  throw new NodeRefusal('wrong-setting', `MESH_PLATFORM is "${asked}": set it to ${PLATFORM_CHOICES.join(' or ')}.`);
}

/** @throws NodeRefusal that names all of them */
export function refuseObstacles(what: string, obstacles: readonly Obstacle[]): void {
  if (obstacles.length === 0) return;
  const lines = obstacles.map(({ missing, remedy }) => `${missing}\n  ${remedy}`);
  throw new NodeRefusal('no-tunnel', [`This machine cannot ${what}:`, ...lines].join('\n'));
}

function locked(directory: string, holder: LockHolder): { release(): void } {
  try {
    makePrivateDirectory(directory);
    return lockDirectory(directory, holder);
  } catch (error) {
    if (error instanceof MeshError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    // The error of a held lock has no system code.
    if (code === undefined) throw new NodeRefusal('in-use', message);
    throw new NodeRefusal(
      'not-written',
      `${directory} cannot be written: ${message}. Free space there, or repair the disk.`,
    );
  }
}

/** Writes the route settings of a node down before it routes anything. */
async function withRoutes(
  config: NodeConfig,
  { translations }: HostRules,
  { directory, acceptRoutes }: NodeOptions,
): Promise<NodeConfig> {
  const kept = new GraphFile(directory, config.id).read();
  const settled = { ...(await withRouteSettings(config, kept, translations)), ...(acceptRoutes && { acceptRoutes }) };
  if (!isDeepStrictEqual(settled, config)) writeNodeConfig(directory, settled);
  return settled;
}

/** @throws PlaneRefusal for a name that is taken */
async function withName(config: NodeConfig, { name, directory }: NodeOptions): Promise<RenameOutcome> {
  if (name === undefined) return { config };
  const done = await renameNode(config, name, new PlaneApi(config.server, config.deviceToken));
  if (done.config !== config) writeNodeConfig(directory, done.config);
  return done;
}

const nameKeptLine = (name: string, why: string) => `It keeps the name ${name} for now: ${why}`;

function endOnSignals(agent: Agent, log: Log): { hasFailed(): boolean; release(): void } {
  let hasFailed = false;
  const signals = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
  const end = (signal: string) => agent.askToEnd(signal);
  const crash = (error: unknown) => {
    log.error({ error: (error as Error)?.stack ?? String(error) }, 'the node failed');
    hasFailed = true;
    agent.askToEnd('a fault of its own');
  };
  for (const signal of signals) process.on(signal, end);
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  return {
    hasFailed: () => hasFailed,
    release() {
      for (const signal of signals) process.off(signal, end);
      process.off('uncaughtException', crash);
      process.off('unhandledRejection', crash);
    },
  };
}

function reasonOf({ why }: AgentEnd, { expiresAt }: NodeConfig): AgentEnd['why'] | 'expired' {
  if (why === 'asked') return why;
  // The control plane may say it a moment before the clock of this machine does.
  const isOver = expiresAt !== undefined && parseInstant(expiresAt) - Date.now() < CLOCK_SLACK_MS;
  return isOver ? 'expired' : why;
}

function lineWriter(logDirectory: string | undefined, interfaceName: string): (line: string) => void {
  if (logDirectory === undefined) return (line) => process.stderr.write(line);
  return logFileWriter(path.join(logDirectory, `${interfaceName}.log`));
}
