import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { Duplex } from 'node:stream';
import type { HostPort } from '../net/host-port.ts';

/** UDP of this host as connections: each chunk of a flow is one datagram, and to end one half of it ends it. */

/** RFC 4787, REQ-5. */
const IDLE_MS = 120_000;
/** Programs that send to one port at once. Datagrams of further ones are lost until a flow has ended. */
const MAX_FLOWS = 1_024;
/** Datagrams that wait for a reader, before later ones are lost. */
const MAX_WAITING = 256;

interface FlowOptions {
  /** Resolves names and has the system's filter for one remote end; left out: nothing is to be done first. */
  readonly open?: (opened: (error?: Error | null) => void) => void;
  readonly send: (bytes: Uint8Array, sent: () => void) => void;
  readonly onClosed: () => void;
}

class DatagramFlow extends Duplex {
  readonly #options: FlowOptions;

  constructor(options: FlowOptions) {
    super({ readableObjectMode: true });
    this.#options = options;
  }

  receive(bytes: Uint8Array): void {
    if (!this.destroyed && this.readableLength < MAX_WAITING) this.push(bytes);
  }

  override _construct(opened: (error?: Error | null) => void): void {
    if (this.#options.open) this.#options.open(opened);
    else opened();
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    // A datagram that cannot be sent is lost, as on the network.
    this.#options.send(chunk, callback);
  }

  override _final(callback: () => void): void {
    callback();
    this.destroy();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#options.onClosed();
    callback(error);
  }
}

const socketFor = (host: string): Socket => createSocket(isIPv6(host) ? 'udp6' : 'udp4');

/** Begins a flow to a UDP port. It ends with an error where the port is refused. */
export function connectDatagrams({ host, port }: HostPort): Duplex {
  const socket = socketFor(host);
  const flow = new DatagramFlow({
    open: (opened) => socket.connect(port, host, opened),
    send: (bytes, sent) => socket.send(bytes, () => sent()),
    onClosed: () => socket.close(),
  });
  socket.on('error', (error) => flow.destroy(error));
  socket.on('message', (bytes) => flow.receive(bytes));
  return flow;
}

export interface DatagramListener {
  readonly port: number;
  /** Resolves once it has ended. */
  readonly ended: Promise<unknown>;
  /** Ends it and its flows. */
  close(): void;
}

/**
 * Takes datagrams at a UDP port, as one flow for each program that sends. A flow without a datagram for 2 minutes ends.
 *
 * @param at port 0 takes any
 * @param limits `end` closes it once aborted
 * @throws Error with the system's code where the port is taken
 */
export async function listenForDatagrams(
  at: HostPort,
  onFlow: (flow: Duplex) => void,
  limits: { readonly idleMs?: number; readonly maxFlows?: number; readonly end?: AbortSignal } = {},
): Promise<DatagramListener> {
  const { idleMs = IDLE_MS, maxFlows = MAX_FLOWS, end } = limits;
  const socket = socketFor(at.host);
  const flows = new Map<string, { readonly flow: DatagramFlow; readonly timer: NodeJS.Timeout }>();
  socket.on('message', (bytes, { address, port }) => {
    const key = `${address} ${port}`;
    const existing = flows.get(key);
    if (!existing && flows.size >= maxFlows) return;
    const { flow, timer } = existing ?? begin(key, address, port);
    timer.refresh();
    flow.receive(bytes);
  });
  function begin(key: string, address: string, port: number) {
    const flow = new DatagramFlow({
      send: (bytes, sent) => {
        timer.refresh();
        socket.send(bytes, port, address, () => sent());
      },
      onClosed: () => {
        clearTimeout(timer);
        flows.delete(key);
      },
    });
    const timer = setTimeout(() => flow.destroy(), idleMs);
    const begun = { flow, timer };
    flows.set(key, begun);
    onFlow(flow);
    return begun;
  }
  socket.bind(at.port, at.host);
  await once(socket, 'listening').catch(({ code, message }: NodeJS.ErrnoException) => {
    socket.close();
    throw Object.assign(new Error(`UDP port ${at.port} of ${at.host} cannot be had: ${message}.`), { code });
  });
  // A datagram to a program that is gone is lost, and no reason to end.
  socket.on('error', () => {});
  const close = () => {
    for (const { flow } of [...flows.values()]) flow.destroy();
    socket.close();
  };
  end?.addEventListener('abort', close);
  return { port: socket.address().port, ended: once(socket, 'close'), close };
}
