import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { addAbortSignal, type Duplex, pipeline } from 'node:stream';
import { type Command, InvalidArgumentError } from 'commander';
import { localSocketPath, openHeld, untilClosed } from '../client/agent/local-socket.ts';
import type { NodeStatus } from '../client/agent/node-status.ts';
import { connectDatagrams, listenForDatagrams } from '../client/datagram-flows.ts';
import { integer, object } from '../core/base/shape.ts';
import { type HostPort, isPort } from '../net/host-port.ts';
import { answering, formatIn, print } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
import { nodeEnd, nodeStatus } from './node-agent.ts';
import { nodeDirectory } from './node-directory.ts';
import { findPeer } from './node-peer.ts';
import { requireNodeRights } from './node-rights.ts';
import { overlayStream } from './overlay-stream.ts';

const LOOPBACK = '127.0.0.1';
const portShape = object({ port: integer(1, 65_535) });

interface ForwardOptions {
  readonly configDir?: string;
  readonly udp?: boolean;
}

interface Forwarding {
  readonly local: number;
  readonly peer: string;
  readonly port: number;
}

/** `mesh forward [LOCAL:]PEER:PORT`: a port of the loopback interface that leads to one of a peer, until it is ended. */
export function defineForward(command: Command): void {
  command
    .argument('<forwarding>', '[LOCAL:]PEER:PORT; LOCAL is the same port unless given, 0 takes any', forwardingOf)
    .option('--udp', 'a UDP port, of both')
    .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)');
  answering(command, async ({ local, peer: name, port }: Forwarding, { configDir, udp = false }: ForwardOptions) => {
    requireNodeRights('mesh forward', configDir);
    const { node } = await nodeStatus(configDir);
    const peer = await findPeer(configDir, name);
    const end = await nodeEnd(configDir);
    const way = { configDir, tunnel: node.tunnel, local, remote: { host: peer.address, port }, end };
    const open = await (udp ? forwardUdp : forwardTcp)(way).catch(({ message }: Error) => {
      const remedy = message.includes('EADDRINUSE') ? ` Name another: LOCAL:${name}:${port}.` : '';
      throw new CliError(`${message}${remedy}`, EXIT.conflict);
    });
    const value = { local: `${LOOPBACK}:${open.port}`, peer: peer.name, address: peer.address, port };
    const words = udp ? 'UDP port' : 'port';
    const text = `${value.local} leads to ${peer.name} (${peer.address}) ${words} ${port}. End it with Ctrl-C.`;
    await print({ value, text }, formatIn(command.opts()));
    await open.ended;
    throw new CliError('The node ended.', EXIT.unavailable);
  });
}

/** From a port of the loopback interface to one of a peer. */
interface Way {
  readonly configDir: string | undefined;
  readonly tunnel: NodeStatus['node']['tunnel'];
  readonly local: number;
  readonly remote: HostPort;
  /** Aborted once the node ends. */
  readonly end: AbortSignal;
}

interface OpenWay {
  readonly port: number;
  readonly ended: Promise<unknown>;
}

async function forwardTcp({ configDir, tunnel, local, remote, end }: Way): Promise<OpenWay> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    addAbortSignal(end, socket).on('error', () => {});
    overlayStream(configDir, tunnel, remote.host, remote.port).then(
      (stream) => pipeline(socket, stream, socket, () => {}),
      (error: Error) => {
        process.stderr.write(`${error.message}\n`);
        socket.destroy();
      },
    );
  });
  server.listen({ port: local, host: LOOPBACK, signal: end });
  await once(server, 'listening').catch(({ message }: Error) => {
    throw new Error(`Port ${local} cannot be had: ${message}.`);
  });
  return { port: (server.address() as AddressInfo).port, ended: once(server, 'close') };
}

/** The agent of a node in userspace mode does it, which has the flows. */
async function forwardUdp({ configDir, tunnel, local, remote, end }: Way): Promise<OpenWay> {
  if (tunnel !== 'userspace') {
    const onFlow = (flow: Duplex) => pipeline(flow, connectDatagrams(remote), flow, () => {});
    return listenForDatagrams({ host: LOOPBACK, port: local }, onFlow, { end });
  }
  const request = { ask: 'forward', local, address: remote.host, port: remote.port } as const;
  const { socket, answer } = await openHeld(localSocketPath(nodeDirectory(configDir)), request);
  return { ...portShape(answer), ended: untilClosed(socket) };
}

function forwardingOf(text: string): Forwarding {
  const parts = text.split(':');
  const port = Number(parts.pop());
  const local = parts.length > 1 && /^\d+$/.test(parts[0] ?? '') ? Number(parts.shift()) : port;
  const peer = parts.join(':');
  if (peer !== '' && isPort(port) && (local === 0 || isPort(local))) return { local, peer, port };
  throw new InvalidArgumentError('It is [LOCAL:]PEER:PORT, such as db:5432 or 15432:db:5432.');
}
