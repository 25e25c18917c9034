import type { Socket as UdpSocket } from 'node:dgram';
import type { Server } from 'node:net';
import { isLoopback } from '../../core/base/loopback.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { answerQueries } from '../names/listener.ts';
import { RCODE } from '../names/message.ts';
import { type Zone, zoneOf } from '../names/zone.ts';
import type { Opening } from './opening.ts';

/** The names of the overlay, as a sandbox resolves them. */
export interface SandboxNames extends Opening {
  /** @param graph in force from now on; undefined once none is */
  use(graph: FullGraph | undefined): void;
}

/**
 * Answers the queries of a sandbox: the names of peers, and for every other name that there is none. No query leaves this process.
 *
 * @param udp bound to an address of the sandbox's loopback, as `tcp` is
 */
export function serveNames(udp: UdpSocket, tcp: Server): SandboxNames {
  let zone: Zone | undefined;
  const closed: Zone = {
    domain: '',
    reverse: [],
    answer(query) {
      const reply = zone?.answer(query);
      // "Refused" would have resolvers ask again, and wait.
      return reply === undefined || reply.rcode === RCODE.refused ? { rcode: RCODE.noName, zone: 0 } : reply;
    },
  };
  const isInside = (address = '') => isLoopback(address);
  return {
    ...answerQueries(udp, tcp, () => closed, isInside),
    use(graph) {
      zone = graph && zoneOf(graph);
    },
  };
}

/** Returns the resolv.conf of a sandbox, by which peers have short names too. */
export function resolvConfOf(address: string, graph: FullGraph | undefined): string {
  const domain = graph && zoneOf(graph)?.domain;
  return [`nameserver ${address}`, ...(domain === undefined ? [] : [`search ${domain}`]), ''].join('\n');
}
