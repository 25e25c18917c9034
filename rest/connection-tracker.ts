import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { sourceSite } from '../core/model/source-network.ts';
import { type Connection, type ConnectionLimits, ConnectionQuotas } from './connection-quotas.ts';

export interface ConnectionTracker {
  begun(request: IncomingMessage): void;
  answered(request: IncomingMessage): void;
}

interface OpenConnection extends Connection {
  /** The latest of its requests, until it is answered. */
  request: IncomingMessage | undefined;
}

/**
 * Holds the connections of a server within their shares.
 *
 * @param isShared whether many callers may connect from an address
 */
export function trackConnections(
  server: Server,
  limits: ConnectionLimits,
  isShared: (address: string) => boolean,
): ConnectionTracker {
  const shares = new ConnectionQuotas(limits);
  // By the other end, which the socket of a request shares with the one that was accepted, under TLS too.
  const byPeer = new Map<string, OpenConnection>();

  // Under TLS a request has a socket of its own.
  server.on('secureConnection', (socket: Socket) => {
    if (addressOf(socket) === undefined) socket.destroy();
  });
  server.on('connection', (socket: Socket) => {
    const address = addressOf(socket);
    if (address === undefined) {
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    const held: OpenConnection = {
      source: sourceSite(address),
      isShared: isShared(address),
      request: undefined,
      // A connection whose request body is still to come counts as waiting, not busy.
      isBusy: () => held.request?.complete ?? false,
      cut: () => socket.destroy(),
    };
    if (!shares.add(held)) {
      socket.destroy();
      return;
    }
    byPeer.set(peer, held);
    socket.once('close', () => {
      shares.remove(held);
      if (byPeer.get(peer) === held) byPeer.delete(peer);
    });
  });

  return {
    begun(request) {
      const held = byPeer.get(peerOf(request.socket));
      if (!held) return;
      held.request = request;
      shares.touch(held);
    },
    answered(request) {
      const held = byPeer.get(peerOf(request.socket));
      if (held?.request !== request) return;
      held.request = undefined;
      shares.touch(held);
    },
  };
}

/**
 * Returns the address of the other end; undefined for one that reset the connection before it was accepted, whose requests
 * are not to be served, as nothing could say whose they were. A socket keeps the addresses that were read of it once.
 */
function addressOf({ remoteAddress, localAddress }: Socket): string | undefined {
  return localAddress === undefined ? undefined : remoteAddress;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
