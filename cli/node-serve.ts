import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { addAbortSignal, type Duplex, pipeline } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import { localSocketPath, openAgentStream, untilClosed } from '../client/agent/local-socket.ts';
import { connectDatagrams, listenForDatagrams } from '../client/datagram-flows.ts';
import { type NodeConfig, readNodeConfig } from '../client/enrol/node-config.ts';
import { type HostPort, isPort, parseHostPort } from '../net/host-port.ts';
import { answering, formatIn, print } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeEnd, nodeStatus } from './node-agent.ts';
import { nodeDirectory } from './node-directory.ts';
import { tcpPortOf } from './node-options.ts';
import { requireNodeRights } from './node-rights.ts';

interface ServeOptions {
  readonly configDir?: string;
  readonly to?: HostPort;
  readonly toOtherHosts?: boolean;
  readonly udp?: boolean;
}

/** `mesh serve PORT`: a port of this node in the overlay that leads to a service of this host, until it is ended. */
export function defineServe(command: Command): void {
  command
    .argument('<port>', 'TCP port in the overlay', tcpPortOf)
    .option('--udp', 'a UDP port, of both')
    .option('--to <host:port>', 'service that it leads to (the same port of 127.0.0.1)', targetOf)
    .option('--to-other-hosts', 'let --to name another host than this one')
    .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)');
  answering(command, async (port: number, options: ServeOptions) => {
    const { configDir, to = { host: '127.0.0.1', port }, toOtherHosts = false, udp = false } = options;
    requireNodeRights('mesh serve', configDir);
    const { node } = await nodeStatus(configDir);
    await requireTarget(to, toOtherHosts, readNodeConfig(nodeDirectory(configDir)));
    const { address } = node;
    if (address === null)
      throw new CliError('The overlay of this node is down: its status says why.', EXIT.unavailable);
    const target = `${to.host}:${to.port}`;
    const text = `${udp ? 'UDP port' : 'Port'} ${port} of ${node.name} (${address}) leads to ${target}, for peers that policy permits. End it with Ctrl-C.`;
    try {
      const serving =
        node.tunnel === 'userspace'
          ? await serveByAgent(configDir, port, to, udp)
          : await (udp ? serveUdpHere : serveHere)(address, port, to, await nodeEnd(configDir));
      await print({ value: { address, port, target }, text }, formatIn(command.opts()));
      await serving.ended;
    } catch (error) {
      throw new CliError((error as Error).message, EXIT.conflict);
    }
    throw new CliError('The node ended.', EXIT.unavailable);
  });
}

/** A port that is served until it ends. */
interface Serving {
  readonly ended: Promise<unknown>;
}

async function serveByAgent(
  configDir: string | undefined,
  port: number,
  to: HostPort,
  isUdp: boolean,
): Promise<Serving> {
  const request = {
    ask: 'serve',
    port,
    host: to.host,
    toPort: to.port,
    ...(isUdp && { protocol: 'UDP' as const }),
  } as const;
  const socket = await openAgentStream(localSocketPath(nodeDirectory(configDir)), request);
  return { ended: untilClosed(socket) };
}

async function serveHere(address: string, port: number, to: HostPort, end: AbortSignal): Promise<Serving> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    addAbortSignal(end, socket);
    const target = connect({ ...to, allowHalfOpen: true });
    pipeline(socket, target, socket, () => {});
  });
  server.listen({ port, host: address, signal: end });
  await once(server, 'listening');
  return { ended: once(server, 'close') };
}

function serveUdpHere(address: string, port: number, to: HostPort, end: AbortSignal): Promise<Serving> {
  const onFlow = (flow: Duplex) => pipeline(flow, connectDatagrams(to), flow, () => {});
  return listenForDatagrams({ host: address, port }, onFlow, { end });
}

/** @throws CliError for a target that agents must not reach by this node */
export async function requireTarget(to: HostPort, isElsewhere: boolean, config: NodeConfig | undefined): Promise<void> {
  const addresses = await addressesOf(to.host);
  if (!isElsewhere && !addresses.every(isLoopback)) {
    throw new CliError(`${to.host} is not the loopback of this host: add --to-other-hosts to serve it.`, EXIT.input);
  }
  await refuseControlPlane(to, addresses, config);
}

/** A service that agents reach by the overlay never is the control plane that decides what they reach. */
async function refuseControlPlane(
  to: HostPort,
  addresses: readonly string[],
  config: NodeConfig | undefined,
): Promise<void> {
  for (const url of [config?.server, config?.signalingUrl]) {
    const { hostname = '', port = '', protocol } = URL.parse(url ?? '') ?? {};
    const planePort = Number(port || (protocol === 'https:' ? 443 : 80));
    if (planePort !== to.port) continue;
    const plane = await addressesOf(hostname).catch(() => []);
    const isSame = plane.some((address) => addresses.includes(address) || (isOwn(address) && addresses.some(isOwn)));
    if (isSame)
      throw new CliError(`${to.host}:${to.port} is the control plane of this node: it is not served.`, EXIT.input);
  }
}

async function addressesOf(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host.replace(/^\[(.*)\]$/, '$1'), { all: true })).map(({ address }) => address);
  } catch (error) {
    throw new CliError(`${host} is not found: ${(error as Error).message}`, EXIT.input);
  }
}

const isLoopback = (address: string) => address.startsWith('127.') || address === '::1';

function isOwn(address: string): boolean {
  return (
    isLoopback(address) ||
    Object.values(networkInterfaces())
      .flat()
      .some((each) => each?.address === address)
  );
}

function targetOf(text: string): HostPort {
  const target = parseHostPort(text);
  if (target && isPort(target.port)) return target;
  throw new InvalidArgumentError('It is host:port, such as 127.0.0.1:8080.');
}
