import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import { type NodeStatus, nodeStatusSchema, type PeerStatus } from '../client/agent/node-status.ts';
import { freshDirectory } from './meshd.ts';
import type { LabHost, Ran, RunOptions } from './natlab.ts';
import { LAB_SERVER } from './natlab-plane.ts';
import { launcher } from './run-command.ts';

export interface LabNodeOptions {
  /** Join token; left out when the directory is already enrolled. */
  readonly token?: string;
  readonly directory?: string;
  /** Beside `--config-dir` and `--interface`. */
  readonly up?: readonly string[];
}

/** Between two looks at a node: much shorter than any time limit that is measured with it. */
const LOOK_MS = 20;
const PATIENCE_MS = 30_000;
let interfaces = 0;

/** A real node on a host of a lab: `mesh init`, then `mesh up` in the foreground. */
export class LabNode {
  readonly host: LabHost;
  readonly directory: string;
  /** All hosts share the directory of wireguard-go's control sockets, so each needs a name of its own. */
  readonly interfaceName = `m${process.pid % 1_000_000}n${interfaces++}`;
  #child: ChildProcess | undefined;
  /** Resolves when `mesh up` has ended, by itself or not. */
  ended: Promise<unknown> = Promise.resolve();
  #log = '';

  constructor(host: LabHost, directory: string) {
    this.host = host;
    this.directory = directory;
  }

  /** Everything that `mesh up` printed. */
  get log(): string {
    return this.#log;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts `mesh up`. */
  up(args: readonly string[] = []): void {
    const command = ['up', '--config-dir', this.directory, '--interface', this.interfaceName, ...args];
    const child = this.host.spawn(launcher('mesh'), command, { HOME: this.directory });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        this.#log += chunk;
      });
    }
    this.#child = child;
    this.ended = once(child, 'close');
  }

  /** Runs another command of `mesh` on this host, for this node. */
  mesh(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    const env = { HOME: this.directory, MESH_CONFIG_DIR: this.directory, ...options.env };
    return this.host.run(launcher('mesh'), args, { ...options, env });
  }

  async status(): Promise<NodeStatus> {
    return nodeStatusSchema.parse(await askAgent(localSocketPath(this.directory), { ask: 'status' }));
  }

  /** Looks at the status until it is so. @throws Error with the last status and the log when it takes too long */
  async until(isSo: (status: NodeStatus) => boolean, patienceMs = PATIENCE_MS): Promise<NodeStatus> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const status = await this.status().catch(() => undefined);
      if (status && isSo(status)) return status;
      const ended = this.#child?.exitCode ?? this.#child?.signalCode;
      if (performance.now() > deadline || (status === undefined && ended !== null)) {
        const seen = JSON.stringify(status, null, 1);
        throw new Error(`${this.host.name} did not come there in time (exit ${ended}):\n${seen}\n${this.#log}`);
      }
      await after(LOOK_MS);
    }
  }

  /** Until a peer is reached as asked. */
  async untilPeer(name: string, isSo: (peer: PeerStatus) => boolean, patienceMs?: number): Promise<PeerStatus> {
    const found = ({ peers }: NodeStatus) => peers.find((peer) => peer.name === name && isSo(peer));
    return found(await this.until((status) => found(status) !== undefined, patienceMs)) as PeerStatus;
  }

  /** One echo after the other; the share that was answered is for the caller to judge. */
  async ping(
    address: string,
    { count = 1, intervalMs = 200, waitSeconds = 1 } = {},
  ): Promise<{ sent: number; received: number }> {
    const args = ['-n', '-q', '-c', `${count}`, '-i', `${intervalMs / 1_000}`, '-W', `${waitSeconds}`, address];
    const { stdout } = await this.host.run('ping', args);
    const [, sent, received] = /(\d+) packets transmitted, (\d+) received/.exec(stdout) ?? [];
    return { sent: Number(sent ?? 0), received: Number(received ?? 0) };
  }

  /** Ends it as a person does. @returns the exit code */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const child = this.#child;
    if (child === undefined) return null;
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await this.ended;
    return child.exitCode;
  }
}

/** Enrols a node under the name of its host and starts it. */
export async function startLabNode(host: LabHost, options: LabNodeOptions): Promise<LabNode> {
  const node = new LabNode(host, options.directory ?? freshDirectory());
  if (options.token !== undefined) {
    // From a file: no secret stands in the list of processes.
    const file = path.join(node.directory, 'join-token');
    writeFileSync(file, options.token, { mode: 0o600 });
    const args = [
      'init',
      '--server',
      LAB_SERVER,
      '--token',
      `@${file}`,
      '--name',
      host.name,
      '--config-dir',
      node.directory,
    ];
    const { code, stderr } = await node.mesh(args);
    if (code !== 0) throw new Error(`${host.name}: mesh init ended with ${code}: ${stderr}`);
  }
  node.up(options.up);
  return node;
}
