import { constants } from 'node:os';
import { Agent } from '../../client/agent/agent.ts';
import type { NodeEnd, SandboxOptions } from '../../client/agent/launch.ts';
import { buildNodeLog } from '../../client/agent/node-log.ts';
import { UserspaceOverlay } from '../../client/agent/userspace-overlay.ts';
import { enrol } from '../../client/enrol/enrol.ts';
import type { NodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { Netstack } from '../../client/netstack/netstack.ts';
import { INSIDE_INTERFACE } from '../../client/sandbox/messages.ts';
import type { Openings } from '../../client/sandbox/openings.ts';
import type { EndSignal } from '../../client/sandbox/sandbox-process.ts';
import { sandboxEnvironment } from '../../client/sandbox/user.ts';
import type { Log } from '../../core/base/ports.ts';
import { parseInstant } from '../../core/base/time.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import type { SandboxPlace } from './place.ts';
import { sandboxPlace } from './sandbox-place.ts';
import { VERSION } from './version.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const;
/** Longer than a clean end ever takes. */
const STOP_MS = 8_000;
/** Longest time for telling the control plane that this peer is gone; it deletes it at its end anyway. */
const LEAVE_MS = 2_000;
const CLOCK_SLACK_MS = 5_000;

/**
 * Enrols a sub-agent and runs a command in namespaces whose only way out is the overlay, under its preset. The node is this process,
 * outside: the command has no credential. The token is used once everything that can fail in there has been tried.
 *
 * @throws NodeRefusal
 */
export async function runSandbox(options: SandboxOptions): Promise<NodeEnd> {
  const signals = rememberSignals();
  let place: SandboxPlace | undefined;
  let node: SandboxNode | undefined;
  try {
    place = await sandboxPlace(options);
    options.onIsolated(place.isolation);
    node = await SandboxNode.join(options, place, signals.ending);
    if (!node) return endBy(signals.first() ?? 'SIGTERM');
    return await runIn(place, node, options, signals);
  } finally {
    const late = setTimeout(options.onStuck, STOP_MS);
    await node?.close();
    await place?.close();
    clearTimeout(late);
    signals.release();
  }
}

/** The node of a sandbox, with its identity in memory. */
class SandboxNode {
  readonly agent: Agent;
  readonly config: NodeConfig;
  readonly openings: Openings;
  graph: FullGraph | undefined;

  private constructor(
    config: NodeConfig,
    openings: Openings,
    overlay: UserspaceOverlay,
    options: SandboxOptions,
    log: Log,
  ) {
    this.config = config;
    this.openings = openings;
    this.agent = new Agent({
      config,
      version: VERSION,
      interfaceName: INSIDE_INTERFACE,
      listenPort: 0,
      busWaitMs: options.busWaitMs,
      busInClear: options.busInClear,
      ...(options.relayOverride && { relayOverride: options.relayOverride }),
      opensHost: false,
      parts: overlay.parts,
      onInForce: (graph) => {
        this.graph = graph;
        openings.use(graph);
      },
      clock: { now: Date.now },
      log: untilOver(log, config),
    });
  }

  /** @returns undefined where it was ended meanwhile */
  static async join(
    options: SandboxOptions,
    place: SandboxPlace,
    ending: AbortSignal,
  ): Promise<SandboxNode | undefined> {
    if (ending.aborted) return undefined;
    const { server, name, hostname, onEnrolled } = options;
    const invited = { server, hostname, ...(name !== undefined && { name }), signal: ending };
    const enrolling = options
      .token(ending)
      .then((token) => enrol({ ...invited, token, platform: 'agent', version: VERSION, force: false }));
    const enrolled = await enrolling.catch((error: unknown) => {
      if (!ending.aborted) throw error;
    });
    if (!enrolled) return undefined;
    onEnrolled(enrolled);
    const { config } = enrolled;
    const log = buildNodeLog(options.level, (line) => process.stderr.write(line));
    const overlay = new UserspaceOverlay(new Netstack(), undefined, place.inside);
    const openings = await place.serve(config, options, log, overlay);
    return new SandboxNode(config, openings, overlay, options, log);
  }

  /** Ends the node, and its peer at the control plane. */
  async close(): Promise<void> {
    await this.openings.close();
    await this.agent.stop();
    const { server, deviceToken } = this.config;
    await new PlaneApi(server, deviceToken, AbortSignal.timeout(LEAVE_MS)).leave().catch(() => undefined);
  }
}

async function runIn(
  place: SandboxPlace,
  node: SandboxNode,
  options: SandboxOptions,
  signals: Signals,
): Promise<NodeEnd> {
  const { agent, config } = node;
  const end = (signal: EndSignal) => agent.askToEnd(signal);
  signals.ending.addEventListener('abort', () => end(signals.first() ?? 'SIGTERM'));
  if (signals.ending.aborted) end('SIGTERM');
  const failed = whenFailed(agent);
  const ended = agent.ended.then((how) => ({ ended: how }));
  const isUp = agent.start().then(() => agent.up);
  const first = await Promise.race([ended, isUp]);
  if (first)
    return signals.ending.aborted ? endBy(signals.first() ?? 'SIGTERM') : { why: reasonOf(first.ended.why, config) };
  await options.onStarted?.(greetingOf(node));
  void reportIsolation(node, place.isolation);
  const { HOME } = process.env;
  const own = { ...node.openings.variables(), HOME: place.home ?? HOME };
  const env = sandboxEnvironment(process.env, options.env, own);
  const stopping = new AbortController();
  const task = place.run({ env, graph: node.graph }, stopping.signal, signals.first);
  const how = await Promise.race([task, ended]);
  failed.release();
  if (typeof how === 'number') return { why: 'task', exitCode: how };
  stopping.abort();
  const exitCode = await task;
  if (failed.has()) return { why: 'failed' };
  if (how.ended.why === 'asked' && options.command.length > 0) return { why: 'task', exitCode };
  return { why: reasonOf(how.ended.why, config) };
}

/** Shown among the calls of the agent. A control plane that does not take it is no reason to end. */
async function reportIsolation({ config: { server, deviceToken } }: SandboxNode, isolation: string): Promise<void> {
  await new PlaneApi(server, deviceToken, AbortSignal.timeout(LEAVE_MS))
    .reportSandbox({ isolation })
    .catch(() => undefined);
}

/** A fault of this process ends the sandbox in order. */
function whenFailed(agent: Agent): { has(): boolean; release(): void } {
  let hasFailed = false;
  const crash = (error: unknown) => {
    process.stderr.write(`the sandbox failed: ${(error as Error)?.stack ?? String(error)}\n`);
    hasFailed = true;
    agent.askToEnd('a fault of its own');
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);
  return {
    has: () => hasFailed,
    release() {
      process.off('uncaughtException', crash);
      process.off('unhandledRejection', crash);
    },
  };
}

function greetingOf({ graph, config }: SandboxNode) {
  const address = graph?.self.address ?? null;
  const name = graph?.self.name ?? config.name;
  return {
    ...{ name, address, interface: INSIDE_INTERFACE, directory: '' },
    state: 'up' as const,
    line: `${name} is up as ${address} in a sandbox.`,
  };
}

function reasonOf(why: 'asked' | 'removed', config: NodeConfig): 'asked' | 'removed' | 'expired' {
  return why === 'removed' && isOver(config) ? 'expired' : why;
}

/** The control plane may say it a moment before the clock of this machine does. */
function isOver({ expiresAt }: NodeConfig): boolean {
  return expiresAt !== undefined && parseInstant(expiresAt) - Date.now() < CLOCK_SLACK_MS;
}

/** Returns a log without warnings once the time of a node is over: what then fails does so for that reason, which the end itself names. */
function untilOver(log: Log, config: NodeConfig): Log {
  return {
    error: (fields, message) => log.error(fields, message),
    warn: (fields, message) => log[isOver(config) ? 'debug' : 'warn'](fields, message),
    info: (fields, message) => log.info(fields, message),
    debug: (fields, message) => log.debug(fields, message),
  };
}

const endBy = (signal: EndSignal): NodeEnd => ({ why: 'task', exitCode: 128 + constants.signals[signal] });

interface Signals {
  readonly ending: AbortSignal;
  first(): EndSignal | undefined;
  release(): void;
}

/** No signal ends this process by itself: it would leave its peer. */
function rememberSignals(): Signals {
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
