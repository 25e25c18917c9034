import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { localSocketPath, openAgentStream } from '../client/agent/local-socket.ts';
import type { NodeStatus } from '../client/agent/node-status.ts';
import { nodeDirectory } from './node-directory.ts';

/** Connects to a TCP port of a peer, as the node of this machine reaches it. @throws Error where it does not come about */
export async function overlayStream(
  configDir: string | undefined,
  tunnel: NodeStatus['node']['tunnel'],
  address: string,
  port: number,
): Promise<Duplex> {
  if (tunnel === 'userspace') {
    return openAgentStream(localSocketPath(nodeDirectory(configDir)), { ask: 'connect', address, port });
  }
  const socket = connect({ host: address, port, allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}
