import { execFile } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, isIPv6, type Server } from 'node:net';

export interface Target {
  readonly protocol: 'TCP' | 'UDP' | 'ICMP';
  readonly address: string;
  /** 0 for ICMP. */
  readonly port: number;
}

/** `silent`: no answer came in time, as when a firewall drops. */
export type Heard = 'open' | 'refused' | 'silent';

/** Answers TCP connections and UDP packets on these ports, of either family, with what arrives. */
export async function serveEcho(ports: readonly number[]): Promise<void> {
  for (const port of ports) {
    const server: Server = createServer((socket) => {
      socket.on('error', () => {});
      socket.pipe(socket);
    });
    const echo: Socket = createSocket('udp6', (message, from) => echo.send(message, from.port, from.address));
    // A reply that the firewall drops is an error of the socket.
    echo.on('error', () => {});
    await Promise.all([once(server.listen(port, '::'), 'listening'), once(echo.bind(port), 'listening')]);
  }
}

/** Tries all at once. */
export function probe(targets: readonly Target[], timeoutMs: number): Promise<Heard[]> {
  const ways = { TCP: probeTcp, UDP: probeUdp, ICMP: probeIcmp };
  return Promise.all(targets.map((target) => ways[target.protocol](target, timeoutMs)));
}

function probeTcp({ address, port }: Target, timeoutMs: number): Promise<Heard> {
  return new Promise((resolve) => {
    const socket = connect(port, address);
    const end = (heard: Heard) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(heard);
    };
    const timer = setTimeout(end, timeoutMs, 'silent');
    socket.on('connect', () => end('open'));
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED' ? 'refused' : 'silent'));
  });
}

function probeUdp({ address, port }: Target, timeoutMs: number): Promise<Heard> {
  return new Promise((resolve) => {
    const socket = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    const end = (heard: Heard) => {
      clearTimeout(timer);
      socket.close(() => resolve(heard));
    };
    const timer = setTimeout(end, timeoutMs, 'silent');
    socket.on('message', () => end('open'));
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED' ? 'refused' : 'silent'));
    socket.connect(port, address, () => socket.send('probe'));
  });
}

function probeIcmp({ address }: Target, timeoutMs: number): Promise<Heard> {
  return new Promise((resolve) => {
    const args = ['-n', '-q', '-c1', '-W', String(timeoutMs / 1_000), address];
    execFile('ping', args, (error) => resolve(error ? 'silent' : 'open'));
  });
}

/** One connection that stays, to see what becomes of it. */
export class LiveConnection {
  readonly #socket: ReturnType<typeof connect>;

  private constructor(socket: ReturnType<typeof connect>) {
    this.#socket = socket;
  }

  static async open(address: string, port: number): Promise<LiveConnection> {
    const socket = connect(port, address);
    socket.setNoDelay(true);
    await once(socket, 'connect');
    socket.on('error', () => {});
    return new LiveConnection(socket);
  }

  /** Whether what is sent comes back in time. */
  async echoes(timeoutMs: number): Promise<boolean> {
    this.#socket.write('x');
    return once(this.#socket, 'data', { signal: AbortSignal.timeout(timeoutMs) }).then(
      () => true,
      () => false,
    );
  }
}

/** A UDP conversation that one side began, to see what becomes of it when neither stops. */
export class UdpTalk {
  readonly #socket: Socket;
  #other: { readonly address: string; readonly port: number } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('message', (_, from) => {
      this.#other = from;
    });
  }

  static async listen(port: number): Promise<UdpTalk> {
    const socket = createSocket('udp4');
    const talk = new UdpTalk(socket);
    await once(socket.bind(port), 'listening');
    return talk;
  }

  /** Sends to `to`, or to whom it heard from last. */
  say(to = this.#other): void {
    if (to) this.#socket.send('x', to.port, to.address, () => {});
  }

  hears(timeoutMs: number): Promise<boolean> {
    return once(this.#socket, 'message', { signal: AbortSignal.timeout(timeoutMs) }).then(
      () => true,
      () => false,
    );
  }
}

/** Datagrams on a port, and how long none came. */
export class UdpCounter {
  #datagrams = 0;
  #lastAt: number | undefined;
  #longestMs = 0;

  static async listen(port: number): Promise<UdpCounter> {
    const counter = new UdpCounter();
    const socket = createSocket('udp4', () => counter.#count());
    await once(socket.bind(port), 'listening');
    return counter;
  }

  get report(): { readonly datagrams: number; readonly silenceMs: number } {
    return { datagrams: this.#datagrams, silenceMs: Math.round(this.#longestMs) };
  }

  #count(): void {
    const now = performance.now();
    this.#longestMs = Math.max(this.#longestMs, now - (this.#lastAt ?? now));
    this.#lastAt = now;
    this.#datagrams += 1;
  }
}

/** A datagram each millisecond or so, from one port. */
export function floodUdp(address: string, port: number, forMs: number): Promise<void> {
  const socket = createSocket('udp4');
  socket.on('error', () => {});
  return new Promise((resolve) => {
    const timer = setInterval(() => socket.send('x', port, address, () => {}), 1);
    setTimeout(() => {
      clearInterval(timer);
      socket.close(() => resolve());
    }, forMs);
  });
}
