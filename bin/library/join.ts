import { hostname } from 'node:os';
import { Agent } from '../../client/agent/agent.ts';
import { AGENT } from '../../client/agent/node-locks.ts';
import { UserspaceOverlay } from '../../client/agent/userspace-overlay.ts';
import { enrol } from '../../client/enrol/enrol.ts';
import { localPlatform, nodeName } from '../../client/enrol/local-device.ts';
import { type NodeConfig, readNodeConfig } from '../../client/enrol/node-config.ts';
import { PlaneApi } from '../../client/enrol/plane-api.ts';
import { makePrivateDirectory } from '../../client/enrol/private-file.ts';
import { Netstack } from '../../client/netstack/netstack.ts';
import { sharedWatch } from '../../client/tunnel/network-watch.ts';
import { tunnelPlatform } from '../../client/tunnel/platform.ts';
import { MeshError } from '../../core/base/errors.ts';
import { silentLog } from '../../core/base/silent-log.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { parseToken, withoutAddress } from '../../core/model/token.ts';
import { lockDirectory } from '../../storage/directory-lock.ts';
import { VERSION } from '../compose/version.ts';
import type { Join, JoinOptions, MeshEnd } from './api.ts';
import { ProgramNode } from './program-node.ts';

const BUS_WAIT_MS = 2_000;
/** A program that starts many nodes, on a machine with other work, may find a control plane too busy for one answer. */
const ENROL_TRIES = 3;
/** Longest time for telling the control plane that this peer is gone; it deletes an ephemeral one later by itself. */
const LEAVE_MS = 2_000;
/** In logs alone. */
const INTERFACE_NAME = 'mesh';

/** One thread, one module and one watcher of the host's network for all nodes of this process. */
let stack: Netstack | undefined;
const watchNetwork = sharedWatch(tunnelPlatform(process.platform).watchNetwork);

export const joinNetwork: Join = async (options) => {
  const { directory, signal, log = silentLog, busInClear = false } = options;
  signal?.throwIfAborted();
  const lock = directory === undefined ? undefined : locked(directory);
  let config: NodeConfig | undefined;
  let agent: Agent | undefined;
  const release = async ({ why }: Pick<MeshEnd, 'why'>) => {
    if (directory === undefined && why === 'closed' && config) await leave(config);
    lock?.release();
  };
  try {
    config = await configOf(options);
    stack ??= new Netstack();
    const overlay = new UserspaceOverlay(stack, watchNetwork);
    let graph: FullGraph | undefined;
    agent = new Agent({
      ...(directory !== undefined && { directory }),
      config,
      version: VERSION,
      interfaceName: INTERFACE_NAME,
      listenPort: 0,
      busWaitMs: BUS_WAIT_MS,
      busInClear,
      opensHost: false,
      parts: overlay.parts,
      onInForce: (next) => {
        graph = next;
      },
      clock: { now: Date.now },
      log,
    });
    await up(agent, signal);
    const node = new ProgramNode({ agent, overlay, graph: () => graph, release });
    const close = () => void node.close();
    signal?.addEventListener('abort', close);
    void node.ended.then(() => signal?.removeEventListener('abort', close));
    return node;
  } catch (error) {
    await agent?.stop();
    await release({ why: 'closed' });
    throw signal?.aborted ? signal.reason : error;
  }
};

function locked(directory: string): { release(): void } {
  makePrivateDirectory(directory);
  return lockDirectory(directory, AGENT);
}

/** Returns the identity of the directory, or a new one by the token. */
async function configOf({ server, token, identity, name, directory, signal }: JoinOptions): Promise<NodeConfig> {
  const held = directory === undefined ? undefined : readNodeConfig(directory);
  if (held && URL.parse(held.server)?.origin === URL.parse(server)?.origin) return held;
  const isDelegated = parseToken(withoutAddress(token))?.kind === 'dlg';
  const ownName = isDelegated ? undefined : await nodeName();
  const asked = name ?? ownName;
  const { config } = await enrol({
    ...{ server, token, version: VERSION, hostname: hostname(), force: false },
    platform: isDelegated ? 'agent' : localPlatform(),
    ...(asked !== undefined && { name: asked }),
    takesSuggestion: name === undefined,
    ephemeral: directory === undefined,
    tries: ENROL_TRIES,
    ...(identity !== undefined && { identity }),
    ...(directory !== undefined && { directory }),
    ...(signal && { signal }),
  });
  return config;
}

/** Resolves once the node is up. @throws MeshError where it never will be, the signal's reason where that comes first */
async function up(agent: Agent, signal: AbortSignal | undefined): Promise<void> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal?.reason);
  signal?.addEventListener('abort', abort);
  const started = agent.start().then((result) => {
    if (result.state === 'revoked' || result.state === 'removed') throw new MeshError('forbidden', result.detail);
    return agent.up;
  });
  const ended = agent.ended.then(({ detail }) => {
    throw new MeshError('unavailable', `The node ended before it was up: ${detail}`);
  });
  try {
    await Promise.race([started, ended, aborted]);
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

async function leave({ server, deviceToken }: NodeConfig): Promise<void> {
  await new PlaneApi(server, deviceToken, AbortSignal.timeout(LEAVE_MS)).leave().catch(() => undefined);
}
