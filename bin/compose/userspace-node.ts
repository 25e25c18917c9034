import { once } from 'node:events';
import { connect as connectTo } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import type { AgentProxy } from '../../client/agent/agent.ts';
import { type NodeOptions, NodeRefusal } from '../../client/agent/launch.ts';
import type { OverlayParts } from '../../client/agent/overlay.ts';
import { UserspaceOverlay } from '../../client/agent/userspace-overlay.ts';
import { connectDatagrams, listenForDatagrams } from '../../client/datagram-flows.ts';
import { TCP, UDP } from '../../client/netstack/connection.ts';
import { Netstack, type StackNode } from '../../client/netstack/netstack.ts';
import { proxyCredential } from '../../client/proxy/credential.ts';
import { Destinations } from '../../client/proxy/destinations.ts';
import { type RunningProxy, startProxy } from '../../client/proxy/proxy.ts';
import type { Endpoint } from '../../client/tunnel/tunnel.ts';
import type { Log } from '../../core/base/ports.ts';
import type { HostPort } from '../../net/host-port.ts';

/** How long an answer to an echo may take. */
const ECHO_MS = 1_000;

/** A node whose tunnel ends in this process, with the ways into it. */
export interface UserspaceNode {
  readonly parts: OverlayParts;
  readonly proxy?: AgentProxy;
  /** Begins a connection to a peer. @throws Error while the overlay is down */
  connect(address: string, port: number): Duplex;
  /** Passes connections of peers to a port of this node on, until the signal. */
  serve(port: number, to: HostPort, protocol: 'UDP' | undefined, until: AbortSignal): Promise<void>;
  /**
   * Leads a UDP port of the loopback interface to one of a peer, until the signal.
   *
   * @param local 0 takes any
   * @returns the local port
   * @throws Error where no policy permits it, the port is taken, or the overlay is down
   */
  forwardUdp(local: number, remote: Endpoint, until: AbortSignal): Promise<number>;
  /** Sends an echo. @returns milliseconds; null without an answer */
  ping(address: string, bytes: number): Promise<number | null>;
}

/** Puts a node in userspace mode together, and starts its proxy. */
export async function userspaceNode({ directory, proxy }: NodeOptions, log: Log): Promise<UserspaceNode> {
  const overlay = new UserspaceOverlay(new Netstack());
  const up = (): StackNode => {
    if (!overlay.node) throw new Error('The overlay of this node is down: see mesh status.');
    return overlay.node;
  };
  return {
    parts: overlay.parts,
    ...(proxy && { proxy: await agentProxy(directory, proxy, overlay, log) }),
    connect: (address, port) => up().connect({ address, port }),
    async serve(port, to, protocol, until) {
      const isUdp = protocol === 'UDP';
      const onConnection = (connection: Duplex) => {
        const target = isUdp ? connectDatagrams(to) : connectTo({ host: to.host, port: to.port, allowHalfOpen: true });
        pipeline(connection, target, connection, () => {});
      };
      whenAborted(until, await overlay.listen(port, onConnection, isUdp ? UDP : TCP));
    },
    async forwardUdp(local, remote, until) {
      // Says whether policy permits it.
      const trial = up().connect(remote, UDP);
      await once(trial, 'connect');
      trial.destroy();
      const listener = await listenForDatagrams({ host: '127.0.0.1', port: local }, (flow) => {
        const stream = overlay.node?.connect(remote, UDP);
        if (stream) pipeline(flow, stream, flow, () => {});
        else flow.destroy();
      });
      whenAborted(until, () => listener.close());
      return listener.port;
    },
    async ping(address, bytes) {
      const answer = await up().ping(address, ECHO_MS, bytes);
      return typeof answer === 'number' ? Math.round(answer * 100) / 100 : null;
    },
  };
}

function whenAborted(signal: AbortSignal, run: () => void): void {
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
}

async function agentProxy(
  directory: string,
  { listen, isOpen, isDirect }: NonNullable<NodeOptions['proxy']>,
  overlay: UserspaceOverlay,
  log: Log,
): Promise<AgentProxy> {
  const destinations = new Destinations({ connect: (remote) => overlay.node?.connect(remote), isDirect });
  const credential = isOpen ? undefined : proxyCredential(directory);
  const running = await listening({ listen, destinations, log, ...(credential && { credential }) });
  return {
    status: running.status,
    use: (graph) => destinations.use(graph),
    close: () => running.close(),
  };
}

/** @throws NodeRefusal for an address that cannot be listened at */
async function listening(options: Parameters<typeof startProxy>[0]): Promise<RunningProxy> {
  try {
    return await startProxy(options);
  } catch (error) {
    const { host, port } = options.listen;
    const reason = (error as Error).message;
    throw new NodeRefusal('wrong-setting', `The proxy cannot listen at ${host} port ${port}: ${reason}. See --proxy.`);
  }
}
