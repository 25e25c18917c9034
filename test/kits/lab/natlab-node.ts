import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { askAgent, localSocketPath } from '../../../client/agent/local-socket.ts';
import { type NodeStatus, nodeStatusSchema, type PeerStatus } from '../../../client/agent/node-status.ts';
import { freshDirectory } from '../process/meshd.ts';
import { BIN, launcher, type Ran, type RunOptions } from '../process/run-command.ts';
import { freshInterface, type LabHost, type Natlab, type PingOptions } from './natlab.ts';
import { LAB_SERVER, type LabPlane } from './natlab-plane.ts';

/** Between two looks at a node: much shorter than any time limit that is measured with it. */
const LOOK_MS = 20;
/** A direct path that a busy host missed at the first try is tried again after 34 to 43 s (client/paths/schedule.ts). */
const PATIENCE_MS = 60_000;

/**
 * A real node on a host of a lab, by the command `mesh`: `join` it, then either `start` and `stop` it in the foreground or
 * bring it `up` and `down` as a daemon.
 */
export class LabNode {
  readonly host: LabHost;
  readonly directory = path.join(freshDirectory(), 'node');
  readonly interfaceName = freshInterface();
  readonly #logDirectory = path.join(this.directory, 'log');
  /** Where its launchers are; another one from the next start on. */
  bin: string;
  /** Words before its commands, which change the rights that they have. */
  readonly #as: readonly string[];
  readonly #own: Readonly<Record<string, string>>;
  #foreground: ChildProcess | undefined;
  #printed = '';

  /** @param own variables of all its commands */
  constructor(host: LabHost, bin = BIN, as: readonly string[] = [], own: Readonly<Record<string, string>> = {}) {
    this.host = host;
    this.bin = bin;
    this.#as = as;
    this.#own = own;
  }

  /** Everything that it logged, in the foreground or as a daemon. */
  get log(): string {
    const file = path.join(this.#logDirectory, `${this.interfaceName}.log`);
    return this.#printed + (existsSync(file) ? readFileSync(file, 'utf8') : '');
  }

  /** Runs a command of `mesh` for this node; answers any exit code. */
  mesh(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const [file, ...words] = this.command(args);
    return this.host.run(file, words, { ...options, env: { ...this.#env(), ...options.env } });
  }

  /** As `mesh`. @throws Error with its output when it does not end with 0 */
  must(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const [file, ...words] = this.command(args);
    return this.host.must(file, words, { ...options, env: { ...this.#env(), ...options.env } });
  }

  /** The words of a command of `mesh` for this node. */
  command(args: readonly string[]): [string, ...string[]] {
    const [file = '', ...words] = [...this.#as, launcher('mesh', this.bin), ...args];
    return [file, ...words];
  }

  /** `mesh init`, under the name of its host. */
  join(token: string): Promise<string> {
    return this.must(['init', '--server', LAB_SERVER, '--name', this.host.name], { env: { MESH_TOKEN: token } });
  }

  /** Starts `mesh up` in the foreground, in a session of its own as a service is. */
  start(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): void {
    const child = this.host.spawn('setsid', this.command(this.#upArguments(args)), {
      ...this.#env(),
      ...env,
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#printed += chunk;
      });
    }
    this.#foreground = child;
  }

  /** As a reader of the output that goes away: what the node writes from now on is refused. */
  closeOutput(): void {
    this.#foreground?.stdout?.destroy();
    this.#foreground?.stderr?.destroy();
  }

  /** Ends what `start` began, as a person does. @returns the exit code */
  async stop(): Promise<number | null> {
    const child = this.#foreground;
    if (child?.exitCode === null && child.signalCode === null) {
      const closed = once(child, 'close');
      child.kill('SIGTERM');
      await closed;
    }
    return child?.exitCode ?? null;
  }

  /** `mesh up --daemon`. @returns what it said */
  up(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Promise<string> {
    return this.must(this.#upArguments(['--daemon', '--log-dir', this.#logDirectory, ...args]), { env });
  }

  /** `mesh down` */
  down(): Promise<string> {
    return this.must(['down']);
  }

  /** By the socket that `mesh status` asks. */
  async status(): Promise<NodeStatus> {
    // An older version says less.
    const schema = this.bin === BIN ? nodeStatusSchema : nodeStatusSchema.partial();
    return schema.parse(await askAgent(localSocketPath(this.directory), { ask: 'status' })) as NodeStatus;
  }

  /** Looks at the status until it is so. @throws Error with the last status and the log when it takes too long */
  async until(isSo: (status: NodeStatus) => boolean, patienceMs = PATIENCE_MS): Promise<NodeStatus> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const status = await this.status().catch(() => undefined);
      if (status && isSo(status)) return status;
      const exit = this.#foreground?.exitCode ?? this.#foreground?.signalCode ?? null;
      if (performance.now() > deadline || exit !== null) {
        throw new Error(`${this.host.name} did not come there in time (exit ${exit}):\n${await this.account()}`);
      }
      await after(LOOK_MS);
    }
  }

  /** What it has to say of itself, for one who looks for the cause of a failure. */
  async account(): Promise<string> {
    const status = await this.status().catch(String);
    return [`${this.host.name}:`, JSON.stringify(status, null, 1), this.log].join('\n');
  }

  /** Until a peer is reached as asked. */
  async untilPeer(name: string, isSo: (peer: PeerStatus) => boolean, patienceMs?: number): Promise<PeerStatus> {
    const found = ({ peers }: NodeStatus) => peers.find((peer) => peer.name === name && isSo(peer));
    return found(await this.until((status) => found(status) !== undefined, patienceMs)) as PeerStatus;
  }

  /** Echoes to an address of the overlay, as a program of its host sends them. */
  ping(address: string, options?: PingOptions): Promise<{ sent: number; received: number }> {
    return this.host.ping(address, options);
  }

  /** Tells whether an echo to an address of the overlay is answered within the time. */
  reaches(address: string, seconds?: number): Promise<boolean> {
    return this.host.reaches(address, seconds);
  }

  #env() {
    const { MESH_PLATFORM } = process.env;
    return {
      ...this.#own,
      HOME: this.directory,
      MESH_CONFIG_DIR: this.directory,
      ...(MESH_PLATFORM && { MESH_PLATFORM }),
    };
  }

  #upArguments(more: readonly string[]): string[] {
    return ['up', '--config-dir', this.directory, '--interface', this.interfaceName, ...more];
  }
}

/** Nodes on the hosts of these names, joined and brought up one after the other: each finds those before it. */
export async function labNodes<Name extends string>(
  lab: Natlab,
  plane: Pick<LabPlane, 'joinToken'>,
  names: readonly Name[],
  bringUp: (node: LabNode) => unknown = (node) => node.start(),
  make: (host: LabHost) => LabNode = (host) => new LabNode(host),
): Promise<Record<Name, LabNode>> {
  const token = await plane.joinToken();
  const nodes: [string, LabNode][] = [];
  for (const name of names) {
    const node = make(lab.host(name));
    await node.join(token);
    await bringUp(node);
    nodes.push([name, node]);
  }
  return Object.fromEntries(nodes) as Record<Name, LabNode>;
}
