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
import { resolvConf } from '../../client/names/resolvers/resolv-conf.ts';
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
import type { UserspaceNode } from './userspace-node.ts';
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
  const stored = await storedConfig(options);
  if (!stored) throw new NodeRefusal('not-configured', `${directory} holds no configuration of a node.`);
  const isUserspace = await runsInUserspace(options, stored, log);
  const config = withTunnel(stored, isUserspace, directory);
  const locks = [locked(directory, AGENT)];
  if (!isUserspace) locks.push(locked(path.join(RUN_DIRECTORY, interfaceName), INTERFACE));
  const isOfHost = !isUserspace;
  const left = isOfHost ? leftoverNode(options) : undefined;
  if (isOfHost) {
    // An address of before, which a killed agent left there, would count as a resolver of this host that lies in the overlay.
    await resolvConf(false).unset(interfaceName);
    recordNode({ directory, interfaceName, wireguardPort: options.listenPort });
  }
  try {
    const userspace = isUserspace ? await (await import('./userspace-node.ts')).userspaceNode(options, log) : undefined;
    const parts = userspace?.parts ?? overlayParts(directory, left);
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
      ...(userspace?.proxy && { proxy: userspace.proxy }),
      ...(options.dns &&
        !isUserspace && {
          names: new NameService({
            interfaceName,
            resolvers: hostResolvers(process.platform, options.writesResolvConf),
            log,
          }),
        }),
      clock: { now: Date.now },
      log,
      ...(systemLog && { systemLog }),
    });
    const socket = await serveLocally(
      localSocketPath(directory),
      (request, ended) => answer(agent, userspace, request, ended),
      log,
    );
    const signals = endOnSignals(agent, log);
    try {
      const started = await Promise.race([agent.start(), stopRequest(agent)]);
      if (started) await options.onStarted?.(greetingOf(started, named, { ...options, userspace }, kept));
      const end = await agent.ended;
      log[end.why === 'asked' ? 'info' : 'warn']({}, `ending: ${end.detail}`);
      if (signals.hasFailed()) return { why: 'failed' };
      return { why: reasonOf(end, named) };
    } catch (error) {
      if (error instanceof RouteRefused) throw new NodeRefusal('in-use', error.message);
      throw error;
    } finally {
      const late = setTimeout(options.onStuck, STOP_MS);
      await Promise.all([agent.stop(), socket.close()]);
      // If something stays, its note stays too, and `mesh down` removes it.
      if (agent.isClean && isOfHost) forgetNode(options);
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

async function answer(
  agent: Agent,
  userspace: UserspaceNode | undefined,
  request: LocalRequest,
  ended: AbortSignal,
): Promise<unknown> {
  switch (request.ask) {
    case 'ping':
      return { ms: await inUserspace(userspace).ping(request.address, request.bytes) };
    case 'connect':
      return inUserspace(userspace).connect(request.address, request.port);
    case 'serve': {
      const { port, host, toPort, protocol } = request;
      await inUserspace(userspace).serve(port, { host, port: toPort }, protocol, ended);
      return {};
    }
    case 'forward': {
      const { local, address, port } = request;
      return { port: await inUserspace(userspace).forwardUdp(local, { address, port }, ended) };
    }
    case 'watch':
      return {};
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

/** Requests that another node answers with its own interface never get here. */
function inUserspace(node: UserspaceNode | undefined): UserspaceNode {
  if (!node) throw new Error('This node has an interface: connect by it.');
  return node;
}

function greetingOf(
  started: Started,
  { name }: NodeConfig,
  {
    interfaceName,
    directory,
    userspace,
  }: Omit<NodeOptions, 'userspace'> & { readonly userspace: UserspaceNode | undefined },
  kept: string | undefined,
): Greeting {
  const where = userspace ? 'in userspace mode' : `on ${interfaceName}`;
  const proxy = userspace?.proxy?.status?.address;
  const address = 'address' in started ? started.address : null;
  const lines = {
    up: () => `${name} is up as ${address} ${where}.`,
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
    ...(proxy !== undefined && { proxy }),
    line: lines[started.state]() + (kept === undefined ? '' : ` ${nameKeptLine(name, kept)}`),
    ...(hostFirewall && { hostFirewall }),
  };
}

function refusePlatform(asked = ''): void {
  if (asked === '' || PLATFORM_CHOICES.some((choice) => choice === asked)) return;
  throw new NodeRefusal('wrong-setting', `MESH_PLATFORM is "${asked}": set it to ${PLATFORM_CHOICES.join(' or ')}.`);
}

/** @throws NodeRefusal where this user can neither read it nor make an interface: superuser rights help with both */
async function storedConfig({ directory, userspace }: NodeOptions): Promise<NodeConfig | undefined> {
  try {
    return readNodeConfig(directory);
  } catch (error) {
    if (!userspace) refuseObstacles('make a tunnel', await tunnelPlatform(process.platform).obstacles(), BOTH_COMMANDS);
    throw error;
  }
}

/**
 * Tells whether the tunnel of a node ends in this process: where the user asks for it or did before, and for root where no
 * interface can be made.
 *
 * @throws NodeRefusal where it does not, and no interface can be made
 */
async function runsInUserspace({ userspace }: NodeOptions, stored: NodeConfig, log: Log): Promise<boolean> {
  if (userspace ?? stored.tunnel === 'userspace') return true;
  const obstacles = await tunnelPlatform(process.platform).obstacles();
  if (userspace === undefined && obstacles.some(({ isOfDevice }) => isOfDevice)) {
    log.warn({}, 'this host makes no tunnel interface: the node runs in userspace mode, as with --userspace');
    return true;
  }
  refuseObstacles('make a tunnel', obstacles, BOTH_COMMANDS);
  return false;
}

const BOTH_COMMANDS = [
  'With superuser rights, for all programs of this host: sudo mesh up',
  'Without, for programs that use its proxy: mesh up --userspace',
];

/** Writes down how the tunnel of a node is made, for its next start. */
function withTunnel(config: NodeConfig, isUserspace: boolean, directory: string): NodeConfig {
  if ((config.tunnel === 'userspace') === isUserspace) return config;
  const { tunnel: _, ...rest } = config;
  const next: NodeConfig = isUserspace ? { ...rest, tunnel: 'userspace' } : rest;
  writeNodeConfig(directory, next);
  return next;
}

/** @throws NodeRefusal that names all of them */
export function refuseObstacles(what: string, obstacles: readonly Obstacle[], commands: readonly string[] = []): void {
  if (obstacles.length === 0) return;
  const lines = obstacles.map(({ missing, remedy }) => `${missing}\n  ${remedy}`);
  throw new NodeRefusal('no-tunnel', [`This machine cannot ${what}:`, ...lines, ...commands].join('\n'));
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
