import { EventEmitter } from 'node:events';
import type { Agent as HttpAgent } from 'node:http';
import { addAbortSignal, Duplex } from 'node:stream';
import { type Dispatcher, fetch as fetchBy } from 'undici';
import type { Agent } from '../../client/agent/agent.ts';
import type { UserspaceOverlay } from '../../client/agent/userspace-overlay.ts';
import { type Protocol, TCP, UDP } from '../../client/netstack/connection.ts';
import { overlayAddressOf } from '../../client/proxy/destinations.ts';
import { MeshError } from '../../core/base/errors.ts';
import type { FullGraph } from '../../core/model/graph.ts';
import { isPort } from '../../net/host-port.ts';
import type { MeshEnd, MeshListener, MeshNode, MeshStatus, PortOptions } from './api.ts';
import { overlayAgent, overlayDispatcher } from './http.ts';

export interface ProgramNodeOptions {
  readonly agent: Pick<Agent, 'status' | 'stop' | 'ended'>;
  readonly overlay: Pick<UserspaceOverlay, 'node' | 'listen'>;
  /** The graph in force; undefined while there is none. */
  readonly graph: () => Pick<FullGraph, 'self' | 'peers'> | undefined;
  /** Gives up what the node had beside the agent. */
  readonly release: (end: MeshEnd) => Promise<void>;
}

/** A node as a program has it. */
export class ProgramNode implements MeshNode {
  readonly fetch: MeshNode['fetch'];
  readonly httpAgent: HttpAgent;
  readonly dispatcher: Dispatcher;
  readonly ended: Promise<MeshEnd>;
  readonly #options: ProgramNodeOptions;
  readonly #listeners = new Set<MeshListener>();
  readonly #end = Promise.withResolvers<MeshEnd>();
  #closing: Promise<void> | undefined;

  constructor(options: ProgramNodeOptions) {
    this.#options = options;
    this.ended = this.#end.promise;
    const connect = (host: string, port: number) => this.connect(host, port);
    const dispatcher = overlayDispatcher(connect);
    this.dispatcher = dispatcher;
    this.httpAgent = overlayAgent(connect);
    this.fetch = (input, init) => fetchBy(input, { dispatcher, ...init });
    void options.agent.ended.then(({ detail }) => this.#close({ why: 'removed', detail }));
  }

  connect(peer: string, port: number, { signal, udp = false }: PortOptions = {}): Duplex {
    const stream = endingWithPeer(this.#connection(peer, port, udp ? UDP : TCP));
    return signal ? addAbortSignal(signal, stream) : stream;
  }

  async listen(port: number, { signal, udp = false }: PortOptions = {}): Promise<MeshListener> {
    signal?.throwIfAborted();
    if (!isPort(port)) throw notAPort(port);
    const events = new EventEmitter<{ connection: [Duplex]; close: [] }>();
    const onConnection = (connection: Duplex) => {
      // A peer may break it off at any time.
      connection.on('error', () => {});
      if (!events.emit('connection', endingWithPeer(connection))) connection.destroy();
    };
    const stop = await this.#options.overlay.listen(port, onConnection, udp ? UDP : TCP);
    const listener: MeshListener = Object.assign(events, {
      port,
      close: () => {
        if (!this.#listeners.delete(listener)) return;
        signal?.removeEventListener('abort', listener.close);
        stop();
        listener.emit('close');
      },
    });
    this.#listeners.add(listener);
    signal?.addEventListener('abort', listener.close);
    if (signal?.aborted || this.#closing !== undefined) listener.close();
    return listener;
  }

  async status(): Promise<MeshStatus> {
    const { node, peers, trouble, control } = await this.#options.agent.status();
    const { name, address, cidr, expiresAt } = node;
    return {
      ...{ name, address, cidr, expiresAt },
      peers: peers.map((peer) => ({ name: peer.name, address: peer.address, state: peer.state, path: peer.path })),
      trouble: trouble || control.trouble,
    };
  }

  close(): Promise<void> {
    return this.#close({ why: 'closed', detail: 'The program closed it.' });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #close(end: MeshEnd): Promise<void> {
    this.#closing ??= (async () => {
      for (const listener of [...this.#listeners]) listener.close();
      this.httpAgent.destroy();
      await this.#options.agent.stop();
      await this.dispatcher.destroy();
      await this.#options.release(end);
      this.#end.resolve(end);
    })();
    return this.#closing;
  }

  #connection(peer: string, port: number, protocol: Protocol): Duplex {
    if (!isPort(port)) return failed(notAPort(port));
    const graph = this.#options.graph();
    const { node } = this.#options.overlay;
    if (this.#closing !== undefined) return failed(new MeshError('unavailable', 'The node is closed.'));
    if (!graph || !node) return failed(new MeshError('unavailable', 'The overlay of this node is down: see status().'));
    const address = overlayAddressOf(peer, graph);
    if (address !== undefined) return node.connect({ address, port }, protocol);
    const reason = 'is neither a peer that policy shows to this node nor an address of its network';
    return failed(new MeshError('not_found', `${peer} ${reason}: status() lists the peers.`));
  }
}

function notAPort(port: number): MeshError {
  return new MeshError('invalid_input', `${port} is no port: it is a number from 1 to 65535.`);
}

/** As connections of node:net do unless they are asked to stay half open. */
function endingWithPeer(stream: Duplex): Duplex {
  stream.allowHalfOpen = false;
  return stream;
}

/** Returns a connection that ends with an error before it begins. */
function failed(error: Error): Duplex {
  return new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() }).destroy(error);
}
