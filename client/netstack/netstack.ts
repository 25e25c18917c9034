import { MeshError } from '../../core/base/errors.ts';
import { isPort } from '../../net/host-port.ts';
import type { Place } from '../places.ts';
import { isRelayEndpoint } from '../relay-endpoints.ts';
import type { Endpoint } from '../tunnel/tunnel.ts';
import { OverlayConnection, type Protocol, TCP } from './connection.ts';
import { addressField, FRAME, type Frame, type FrameKind, frameOf, framesOf, u8, u16, u32 } from './frames.ts';
import { stackProgram } from './stack-program.ts';
import { StackThread } from './stack-thread.ts';

/** A node is its own in the stack from `open` to `close`. */
export interface StackNodeOptions {
  /** Overlay address. */
  readonly address: string;
  /** Bytes of a packet inside the tunnel. */
  readonly mtu: number;
  /** UDP port of WireGuard and STUN; 0 takes any. */
  readonly port: number;
  /** Descriptor of a TUN interface that its packets come from and go to, in place of TCP/IP of the stack. */
  readonly tun?: number;
}

interface Listener {
  readonly onConnection: (connection: OverlayConnection) => void;
  readonly protocol: Protocol;
}

/** Takes datagrams of WireGuard's port that WireGuard did not get, coalesced ones by their segment (platform/segments.ts). */
export type DatagramHandler = (bytes: Uint8Array, segment: number, from: Endpoint) => void;

/** WireGuard and TCP/IP of all nodes of this process, in one thread that runs while there are nodes. */
export class Netstack {
  readonly #program: string | undefined;
  #thread: StackThread | undefined;
  readonly #nodes = new Map<number, StackNode>();
  #lastNumber = 0;

  /** @param choice see `stackProgram` @throws MeshError `invalid_input` where there is no such stack */
  constructor(choice = process.env['MESH_NETSTACK']) {
    this.#program = stackProgram(choice);
  }

  /** @throws MeshError `unavailable` where the port cannot be bound, or the thread does not start */
  async open({ address, mtu, port, tun }: StackNodeOptions): Promise<StackNode> {
    const thread = this.#running();
    this.#lastNumber += 1;
    const node = new StackNode(this.#lastNumber, thread, () => this.#close(node));
    this.#nodes.set(node.number, node);
    try {
      const failure = await node.call(FRAME.open, u16(mtu), u8(tun === undefined ? 0 : 1), addressField(address));
      if (failure !== '') throw new MeshError('unavailable', `The network stack refused the node: ${failure}.`);
      await node.bind(port);
      if (tun !== undefined) await node.attach(tun);
      return node;
    } catch (error) {
      await node.close();
      throw error;
    }
  }

  #running(): StackThread {
    if (this.#thread) return this.#thread;
    const thread = new StackThread(this.#program, (batch) => this.#receive(batch));
    this.#thread = thread;
    void thread.ended.then((reason) => {
      if (this.#thread === thread) this.#thread = undefined;
      for (const node of [...this.#nodes.values()]) {
        if (node.thread !== thread) continue;
        this.#nodes.delete(node.number);
        node.fail(reason);
      }
    });
    return thread;
  }

  #receive(batch: Uint8Array): void {
    for (const frame of framesOf(batch)) this.#nodes.get(frame.node)?.receive(frame);
  }

  async #close(node: StackNode): Promise<void> {
    this.#nodes.delete(node.number);
    if (this.#nodes.size > 0) return;
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.terminate();
  }
}

/** One node of the stack. */
export class StackNode {
  readonly number: number;
  readonly thread: StackThread;
  /** Resolves with the reason once it is gone. */
  readonly ended: Promise<string>;
  onStun: DatagramHandler = () => {};
  onRelayed: DatagramHandler = () => {};
  readonly #remove: () => Promise<void>;
  readonly #calls = new Map<number, { resolve(answer: string): void; reject(error: Error): void }>();
  readonly #connections = new Map<number, OverlayConnection>();
  readonly #listeners = new Map<number, Listener>();
  #lastNumber = 0;
  #port = 0;
  #end: (reason: string) => void = () => {};
  #closing: Promise<void> | undefined;

  constructor(number: number, thread: StackThread, remove: () => Promise<void>) {
    this.number = number;
    this.thread = thread;
    this.#remove = remove;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** UDP port of WireGuard and STUN. */
  get port(): number {
    return this.#port;
  }

  /** @param port 0 takes any @throws MeshError where the port is in use, with what to do */
  async bind(port: number): Promise<void> {
    const answer = await this.call(FRAME.bindPort, u16(port));
    this.#port = Number(answer);
    if (isPort(this.#port)) return;
    if (answer !== 'EADDRINUSE') throw new MeshError('unavailable', `UDP port ${port} cannot be used: ${answer}.`);
    const remedy = 'End it, or choose another port with --wg-port.';
    throw new MeshError('conflict', `UDP port ${port} is in use by another program. ${remedy}`);
  }

  /** Begins to carry the packets of a TUN interface. @param tun a descriptor, which stays the caller's */
  async attach(tun: number): Promise<void> {
    const failure = await this.call(FRAME.attach, u32(tun));
    if (failure !== '') throw new MeshError('unavailable', `The packets of the sandbox cannot be read: ${failure}.`);
  }

  /** Sends WireGuard a request in its text protocol. @returns its answer */
  configure(request: string): Promise<string> {
    return this.call(FRAME.configure, Buffer.from(request));
  }

  /** @param places the present one first */
  async setPlaces(places: readonly Pick<Place, 'address'>[]): Promise<void> {
    require(await this.call(FRAME.address, ...places.map(({ address }) => addressField(address))));
  }

  /** @param rules as native/netstack/filter.go reads them: permissions of peers, then those of this node */
  async setRules(rules: Uint8Array): Promise<void> {
    require(await this.call(FRAME.rules, rules));
  }

  /** Sends from the port of WireGuard; to a relayed peer's endpoint: to WireGuard, from there. */
  sendDatagrams(bytes: Uint8Array, segment: number, { address, port }: Endpoint): void {
    this.#send(FRAME.datagrams, addressField(address), u16(port, segment), bytes);
  }

  /** Begins a connection; it emits `connect` or `error`. @param protocol TCP, unless it is a UDP flow */
  connect(remote: Endpoint, protocol = TCP): OverlayConnection {
    const connection = this.#connection(this.#next(), remote, protocol);
    if (this.#closing !== undefined) connection.fail('the node is closed');
    const { idleSeconds } = protocol;
    this.#send(FRAME.dial, u32(this.#lastNumber), u16(idleSeconds), addressField(remote.address), u16(remote.port));
    return connection;
  }

  /** Takes connections of peers to a port until the answer is called. @throws MeshError `conflict` where the port is taken */
  async listen(
    port: number,
    onConnection: (connection: OverlayConnection) => void,
    protocol = TCP,
  ): Promise<() => void> {
    const number = this.#next();
    this.#listeners.set(number, { onConnection, protocol });
    const failure = await this.#ask(FRAME.listen, number, u16(protocol.idleSeconds, port));
    if (failure !== '') {
      this.#listeners.delete(number);
      throw new MeshError('conflict', `Port ${port} of this node cannot be served: ${failure}.`);
    }
    return () => {
      if (this.#listeners.delete(number)) this.#send(FRAME.unlisten, u32(number));
    };
  }

  /**
   * Sends an ICMP echo.
   *
   * @param bytes of the packet inside the tunnel; 0 for the least
   * @returns milliseconds until the answer; the reason where none came: `policy`, `timeout`
   */
  async ping(address: string, waitMs: number, bytes = 0): Promise<number | string> {
    const startedAt = performance.now();
    const failure = await this.call(FRAME.ping, u32(waitMs), u16(bytes), addressField(address));
    return failure === '' ? performance.now() - startedAt : failure;
  }

  /** Sends a request and resolves with the text of its answer. @throws MeshError `unavailable` once the node is gone */
  call(kind: FrameKind, ...fields: readonly Uint8Array[]): Promise<string> {
    return this.#ask(kind, this.#next(), ...fields);
  }

  receive(frame: Frame): void {
    const { kind, fields } = frame;
    switch (kind) {
      case FRAME.datagrams: {
        const from = fields.endpoint();
        const segment = fields.u16();
        (isRelayEndpoint(from.address) ? this.onRelayed : this.onStun)(fields.rest(), segment, from);
        return;
      }
      case FRAME.accepted: {
        const listener = this.#listeners.get(fields.u32());
        const connection = this.#connection(fields.u32(), fields.endpoint(), listener?.protocol ?? TCP);
        if (listener) listener.onConnection(connection);
        else connection.destroy();
        return;
      }
      case FRAME.dial:
      case FRAME.data:
      case FRAME.end:
      case FRAME.credit:
      case FRAME.reset:
        this.#connections.get(fields.u32())?.receive(frame);
        return;
      default: {
        const number = fields.u32();
        this.#calls.get(number)?.resolve(fields.text());
        this.#calls.delete(number);
      }
    }
  }

  /** The thread is gone: everything of the node ends. */
  fail(reason: string): void {
    this.#closing ??= Promise.resolve();
    for (const connection of [...this.#connections.values()]) connection.fail(reason);
    for (const { reject } of this.#calls.values()) reject(new MeshError('unavailable', reason));
    this.#calls.clear();
    this.#end(reason);
  }

  /** Ends all of it. Idempotent. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#send(FRAME.close);
      this.fail('It was closed.');
      this.#closing = this.#remove();
    }
    return this.#closing;
  }

  #next(): number {
    this.#lastNumber += 1;
    return this.#lastNumber;
  }

  #ask(kind: FrameKind, number: number, ...fields: readonly Uint8Array[]): Promise<string> {
    if (this.#closing !== undefined) return Promise.reject(new MeshError('unavailable', 'The node is closed.'));
    return new Promise((resolve, reject) => {
      this.#calls.set(number, { resolve, reject });
      this.#send(kind, u32(number), ...fields);
    });
  }

  #connection(number: number, remote: Endpoint, { idleSeconds }: Protocol): OverlayConnection {
    const connection = new OverlayConnection({
      number,
      remote,
      isFlow: idleSeconds > 0,
      send: (kind, ...fields) => this.#send(kind, ...fields),
      onClosed: () => this.#connections.delete(number),
    });
    this.#connections.set(number, connection);
    return connection;
  }

  #send(kind: FrameKind, ...fields: readonly Uint8Array[]): void {
    if (this.#closing === undefined) this.thread.send(frameOf(kind, this.number, ...fields));
  }
}

function require(failure: string): void {
  if (failure !== '') throw new MeshError('unavailable', `The network stack refused a change: ${failure}.`);
}
