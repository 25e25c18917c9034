import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import type { Log } from '../../core/base/ports.ts';
import { visibleLine } from '../../core/base/visible-line.ts';
import { leadsToInternet } from '../../core/model/public-addresses.ts';
import { askDns, type Lookup, socketLookup } from '../lookup.ts';
import { ProxyRefusal } from '../proxy/destinations.ts';
import { httpProxy, type ProxyTargets } from '../proxy/http.ts';
import { MAX_HELLO_BYTES, readClientHello } from './client-hello.ts';
import { comparableName, type Destination, destinationText } from './destination.ts';
import { type Listener, MAX_CONNECTIONS, type Opening, open } from './opening.ts';

/** An attempt of a program of the sandbox to reach something outside of the overlay. */
export interface EgressUse {
  /** As {@link destinationText}, in one line and at most {@link MAX_SHOWN} characters; a program may have made it up. */
  readonly destination: string;
  readonly outcome: 'opened' | 'refused' | 'failed';
  /** Why it was not opened. */
  readonly reason?: string;
}

export interface EgressOptions {
  readonly destinations: readonly Destination[];
  readonly onUse: (use: EgressUse) => void;
  readonly log: Log;
  readonly lookup?: Lookup;
  /** Begins a connection to one of the addresses that were judged. */
  readonly connect?: (to: ConnectTo) => Socket;
  readonly limits?: Partial<typeof EGRESS_LIMITS>;
}

export interface ConnectTo {
  readonly host: string;
  readonly port: number;
  readonly lookup: ReturnType<typeof socketLookup>;
}

export const EGRESS_LIMITS = {
  /** Time for the head of a request, and then for a ClientHello, ms. */
  requestMs: 10_000,
  /** Time to connect, to all addresses together, ms. */
  connectMs: 10_000,
  /** Longest pause of a connection, ms. */
  silenceMs: 600_000,
} as const;

const LEFT = 'the program closed its connection first';
const LOG_MS = 60_000;
/** Lines of the log within {@link LOG_MS}: programs make destinations up. */
const MAX_LOGGED = 64;

/** Longest text of a destination that a program named. */
const MAX_SHOWN = 260;

/**
 * Serves HTTP CONNECT, and plain HTTP, to named destinations on the internet. A name is looked up once, out here; all of its addresses
 * have to be on the internet, and the connection goes to one of them. Through a tunnel goes TLS alone, under the name of the tunnel.
 */
export async function serveEgress(listener: Listener, options: EgressOptions): Promise<Opening> {
  const limits = { ...EGRESS_LIMITS, ...options.limits };
  const server = httpProxy(new NamedDestinations(options, limits), undefined);
  server.headersTimeout = limits.requestMs;
  server.on('connection', (socket: Socket) => socket.setTimeout(limits.silenceMs, () => socket.destroy()));
  return open(server, listener);
}

class NamedDestinations implements ProxyTargets {
  readonly #options: EgressOptions;
  readonly #limits: Readonly<Record<keyof typeof EGRESS_LIMITS, number>>;
  /** By host: a look-up cannot be canceled, so that programs which ask for the same share one. */
  readonly #lookups = new Map<string, ReturnType<Lookup>>();
  /** Requests that wait for a look-up, also those whose program is gone. */
  #waiting = 0;
  #logged = new Set<string>();
  #loggedUntil = 0;

  constructor(options: EgressOptions, limits: Readonly<Record<keyof typeof EGRESS_LIMITS, number>>) {
    this.#options = options;
    this.#limits = limits;
  }

  async open(host: string, port: number, isTunnel: boolean, gone: AbortSignal): Promise<Socket> {
    const asked = { host: comparableName(host), port, isPlain: !isTunnel };
    const text = shown(destinationText(asked));
    const isNamed = this.#options.destinations.some((one) => destinationText(one) === destinationText(asked));
    if (!isNamed) throw this.#refused(text, `it is not named: start the sandbox with --egress ${text}`);
    const socket = await this.#connected(asked.host, port, text, gone);
    // A tunnel counts once its program named the server.
    if (!isTunnel) this.#use({ destination: text, outcome: 'opened' });
    return socket;
  }

  examine(host: string, port: number): Transform {
    const text = destinationText({ host: comparableName(host), port, isPlain: false });
    let held = Buffer.alloc(0);
    let isOver = false;
    const over = (use: Omit<EgressUse, 'destination'>) => {
      isOver = true;
      clearTimeout(late);
      this.#use({ destination: text, ...use });
    };
    const stream = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        if (isOver) return done(null, chunk);
        held = Buffer.concat([held, chunk]);
        const hello = readClientHello(held.subarray(0, MAX_HELLO_BYTES));
        if (hello.kind === 'more') return done();
        const reason = hello.kind === 'refused' ? hello.reason : otherName(hello.name, host);
        over(reason === undefined ? { outcome: 'opened' } : { outcome: 'refused', reason });
        if (reason === undefined) done(null, held);
        else done(new Error(reason));
        held = Buffer.alloc(0);
      },
      destroy(error, done) {
        if (!isOver) over({ outcome: 'refused', reason: 'it ended before a TLS ClientHello' });
        done(error);
      },
    });
    const late = setTimeout(() => stream.destroy(new Error('no ClientHello')), this.#limits.requestMs);
    return stream;
  }

  async #connected(host: string, port: number, text: string, gone: AbortSignal): Promise<Socket> {
    const { connect = connectTcp } = this.#options;
    if (this.#waiting >= MAX_CONNECTIONS) throw this.#failed(text, 'too many requests wait for the look-up of a name');
    const found = await this.#lookUp(host).catch((error: NodeJS.ErrnoException) => {
      throw this.#failed(text, `${host} cannot be looked up: ${error.code ?? error.message}`);
    });
    if (gone.aborted) throw this.#failed(text, LEFT);
    if (!found.every(({ address }) => leadsToInternet(address))) {
      throw this.#refused(text, `${host} is, or also is, an address that is not on the internet`);
    }
    const socket = connect({ host, port, lookup: socketLookup(async () => found) });
    const { connectMs } = this.#limits;
    const late = setTimeout(() => socket.destroy(new Error(`no connection within ${connectMs / 1_000} s`)), connectMs);
    const leave = () => socket.destroy(new Error(LEFT));
    gone.addEventListener('abort', leave);
    try {
      await once(socket, 'connect');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw this.#failed(text, `${host} port ${port} does not answer: ${code ?? message}`);
    } finally {
      clearTimeout(late);
      gone.removeEventListener('abort', leave);
    }
    // Whoever it is handed to listens to its errors once it has it.
    return socket.on('error', () => {});
  }

  async #lookUp(host: string): ReturnType<Lookup> {
    const { lookup = askDns } = this.#options;
    const found = this.#lookups.get(host) ?? lookup(host).finally(() => this.#lookups.delete(host));
    this.#lookups.set(host, found);
    this.#waiting += 1;
    try {
      return await found;
    } finally {
      this.#waiting -= 1;
    }
  }

  #refused(destination: string, reason: string): ProxyRefusal {
    this.#use({ destination, outcome: 'refused', reason });
    return new ProxyRefusal('outside', `The sandbox does not reach ${destination}: ${reason}.`);
  }

  #failed(destination: string, reason: string): ProxyRefusal {
    this.#use({ destination, outcome: 'failed', reason });
    return new ProxyRefusal('unreachable', `The sandbox does not reach ${destination}: ${reason}.`);
  }

  #use(use: EgressUse): void {
    const { log, onUse } = this.#options;
    onUse(use);
    if (!this.#isToLog(use)) return;
    log[use.outcome === 'opened' ? 'info' : 'warn'](
      { egress: use.destination },
      `egress ${use.outcome}${use.reason === undefined ? '' : `: ${use.reason}`}`,
    );
  }

  /** The first of each kind in a minute. */
  #isToLog({ destination, outcome }: EgressUse): boolean {
    const now = performance.now();
    if (now >= this.#loggedUntil) {
      this.#loggedUntil = now + LOG_MS;
      this.#logged = new Set();
    }
    const key = `${outcome} ${destination}`;
    if (this.#logged.has(key) || this.#logged.size >= MAX_LOGGED) return false;
    this.#logged.add(key);
    return true;
  }
}

function otherName(name: string, host: string): string | undefined {
  if (comparableName(name) === comparableName(host)) return undefined;
  return `TLS names ${shown(name)}, which is not the destination of the tunnel`;
}

/** Names come from programs of the sandbox. */
function shown(text: string): string {
  return visibleLine(text).slice(0, MAX_SHOWN);
}
