import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import type { Socket as UdpSocket } from 'node:dgram';
import { closeSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { constants } from 'node:os';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';
import { sameJson } from '../../core/model/graph.ts';
import { parseIp } from '../../platform/ip.ts';
import type { InterfaceAddress, Isolation } from '../../platform/isolation.ts';
import { NodeRefusal } from '../agent/launch.ts';
import type { Place } from '../places.ts';
import {
  type Beginning,
  FIRST_STREAM,
  type FromInside,
  INSIDE_INTERFACE,
  type Preparation,
  type Prepared,
  type ToInside,
} from './messages.ts';
import type { SandboxSockets } from './openings.ts';
import { passTerminal } from './terminal.ts';

const INSIDE = path.join(import.meta.dirname, `inside${path.extname(import.meta.url)}`);
/** Time to end by itself after it was asked to. */
const END_MS = 5_000;
const MAX_SAID = 2_000;

/** A sandbox could not be made: `step` is what was tried, empty where it did not begin. */
export class PreparationError extends Error {
  override readonly name = 'PreparationError';
  readonly step: string;

  constructor(step: string, detail: string) {
    super(detail);
    this.step = step;
  }
}

/** The sockets of its openings, as this process holds them. */
interface OwnSockets extends SandboxSockets {
  readonly door: { readonly listener: Server; readonly port: number };
  readonly egress: { readonly listener: Server; readonly port: number };
}

const openingOf = (listener: Server) => ({ listener, port: (listener.address() as AddressInfo).port });

export type EndSignal = 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGQUIT';

/** Namespaces with a process in them that waits to become the command. They end with it, and with this process. */
export class SandboxProcess {
  readonly sockets: OwnSockets;
  /** Descriptor of the overlay's interface in there. */
  readonly tun: number;
  readonly #child: ChildProcess;
  readonly #isolation: Isolation;
  readonly #pid: number;
  readonly #routes: number;
  readonly #terminal: number | undefined;
  readonly #ended: Promise<number>;
  #places: readonly Place[] = [];

  private constructor(
    child: ChildProcess,
    isolation: Isolation,
    { pid, tun, routes, terminal }: Prepared,
    sockets: OwnSockets,
  ) {
    const take = (fd: number) => isolation.takeDescriptor(pid, fd);
    this.#child = child;
    this.#isolation = isolation;
    this.#pid = pid;
    this.#routes = take(routes);
    this.tun = take(tun);
    this.#terminal = terminal === undefined ? undefined : take(terminal);
    this.sockets = sockets;
    this.#ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
    });
  }

  /**
   * Makes the namespaces, and all that is in them but the overlay's address.
   *
   * @throws PreparationError
   */
  static async prepare(
    { isInteractive, ...options }: Omit<Preparation, 'hasTerminal'> & { readonly isInteractive: boolean },
    isolation: Isolation,
  ): Promise<SandboxProcess> {
    const hasTerminal = isInteractive && isatty(0) && isatty(1);
    const child = spawnInside(options.isRoot, hasTerminal);
    let said = '';
    child.stderr?.on('data', (text: Buffer) => {
      said = `${said}${text}`.slice(0, MAX_SAID);
    });
    const handles = new Map<string, unknown>();
    try {
      const prepared = await new Promise<Prepared>((resolve, reject) => {
        child.once('error', (error) => reject(new PreparationError('', error.message)));
        child.once('exit', () => setImmediate(() => reject(new PreparationError('', said.trim()))));
        child.on('message', (message: FromInside, handle) => {
          if ('prepared' in message) resolve(message.prepared);
          else if ('failed' in message) reject(new PreparationError(message.failed.what, message.failed.detail));
          else handles.set(message.socket, handle);
        });
        tell(child, { prepare: { ...options, hasTerminal } });
      });
      return new SandboxProcess(child, isolation, prepared, {
        door: openingOf(handles.get('door') as Server),
        egress: openingOf(handles.get('egress') as Server),
        names: { udp: handles.get('names-udp') as UdpSocket, tcp: handles.get('names-tcp') as Server },
      });
    } catch (error) {
      child.kill('SIGKILL');
      for (const handle of handles.values()) closeSocket(handle as Server | UdpSocket);
      if (error instanceof PreparationError) throw error;
      throw new PreparationError('descriptors', (error as Error).message);
    }
  }

  /** Pid of its first process, as this one numbers it. */
  get pid(): number {
    return this.#pid;
  }

  /** Gives the overlay's interface other addresses, new ones before the others go. */
  setPlaces(places: readonly Place[]): void {
    const gone = this.#places.filter((one) => !places.some((kept) => sameJson(kept, one)));
    for (const one of places) this.#isolation.addAddress(this.#routes, INSIDE_INTERFACE, interfaceAddress(one));
    this.#places = places;
    for (const one of gone) this.#isolation.removeAddress(this.#routes, INSIDE_INTERFACE, interfaceAddress(one));
  }

  /** Runs the command. @returns its exit code, 128 and the number of a signal that ended it */
  async run(beginning: Beginning, ending: AbortSignal, signal: () => EndSignal | undefined): Promise<number> {
    const terminal = this.#terminal === undefined ? undefined : passTerminal(this.#terminal, this.#isolation);
    if (!terminal) this.#passStreams();
    const end = () => this.#end(signal() ?? 'SIGTERM');
    ending.addEventListener('abort', end, { once: true });
    const failed = new Promise<never>((_, reject) => {
      this.#child.on('message', (message: FromInside) => {
        if ('failed' in message)
          reject(new NodeRefusal('no-namespace', `The command did not start: ${message.failed.detail}.`));
      });
    });
    tell(this.#child, { begin: beginning });
    if (ending.aborted) end();
    try {
      const code = await Promise.race([this.#ended, failed]);
      await terminal?.ended;
      return code;
    } finally {
      ending.removeEventListener('abort', end);
      terminal?.release();
    }
  }

  /** Ends everything in there. Idempotent. */
  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#signal('SIGKILL');
      this.#child.kill('SIGKILL');
      await this.#ended;
    }
    for (const fd of [this.tun, this.#routes]) close(fd);
    const { door, egress, names } = this.sockets;
    for (const socket of [door.listener, egress.listener, names.tcp, names.udp]) closeSocket(socket);
  }

  /** Asks the command to end, as a shell asks a job, and ends it after a while. */
  #end(signal: EndSignal): void {
    this.#signal(signal);
    const timer = setTimeout(() => this.#signal('SIGKILL'), END_MS);
    void this.#ended.then(() => clearTimeout(timer));
  }

  #signal(signal: NodeJS.Signals): void {
    try {
      // The session that it began; its shell, the first process in there, stands all but SIGKILL.
      process.kill(-this.#pid, signal);
    } catch {
      // It has ended by itself.
    }
  }

  #passStreams(): void {
    const [input, output, errors] = this.#child.stdio.slice(FIRST_STREAM);
    if (output instanceof Readable) output.pipe(process.stdout, { end: false });
    if (errors instanceof Readable) errors.pipe(process.stderr, { end: false });
    if (!(input instanceof Writable)) return;
    // A command that does not read ends before its input does.
    input.on('error', () => {});
    process.stdin.pipe(input);
    void this.#ended.then(() => process.stdin.destroy());
  }
}

function tell(child: ChildProcess, message: ToInside): void {
  child.send(message, () => {});
}

function close(fd: number): void {
  try {
    closeSync(fd);
  } catch {
    // It is closed.
  }
}

/** Whoever served it may have closed it. */
function closeSocket(socket: Server | UdpSocket): void {
  try {
    socket.close();
  } catch {
    // It is closed.
  }
}

function interfaceAddress({ address, cidr }: Place): InterfaceAddress {
  const ip = parseIp(address);
  if (!ip) throw new Error(`${address} is no address.`);
  return { ip, prefix: Number(cidr.split('/')[1]) };
}

function spawnInside(isRoot: boolean, hasTerminal: boolean): ChildProcess {
  // A new user namespace would undo the end with this process, prctl(2).
  const user = isRoot ? [] : ['unshare', '--user', '--map-current-user', '--keep-caps', '--'];
  const withParent = ['setpriv', '--pdeathsig=KILL', '--'];
  const kinds = ['--net', '--mount', '--pid', '--ipc', '--uts', '--cgroup'];
  const unshare = ['unshare', ...kinds, '--fork', '--kill-child', '--'];
  const isErrorGiven = hasTerminal && !isatty(2);
  const node = [process.execPath, '--disable-sigusr1', '--disable-warning=ExperimentalWarning', INSIDE];
  const streams = [0, 1, 2].map((fd) => {
    if (hasTerminal && !(fd === 2 && isErrorGiven)) return 'ignore';
    return isatty(fd) ? 'pipe' : fd;
  });
  const stdio: StdioOptions = ['ignore', 'ignore', 'pipe', 'ipc', ...streams];
  const { NODE_COMPILE_CACHE, PATH = '' } = process.env;
  const env = { PATH, ...(NODE_COMPILE_CACHE !== undefined && { NODE_COMPILE_CACHE }) };
  const [first = '', ...args] = [...user, ...withParent, ...unshare, ...node, ...(isErrorGiven ? ['stderr'] : [])];
  return spawn(first, args, { stdio, env, cwd: '/', detached: true });
}
