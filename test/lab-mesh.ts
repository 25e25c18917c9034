import path from 'node:path';
import type { NodeStatus, PeerStatus } from '../client/agent/node-status.ts';
import { freshDirectory } from './meshd.ts';
import type { LabHost, Natlab, Ran } from './natlab.ts';
import { LAB_SERVER, type LabPlane } from './natlab-plane.ts';
import { launcher } from './run-command.ts';

let nodes = 0;

/** A node on a host of a lab, run by its command line as a user runs it. */
export class LabMesh {
  readonly host: LabHost;
  readonly directory: string;
  readonly logFile: string;
  /** Unlike any other: the sockets of WireGuard lie where all namespaces see them. */
  readonly interfaceName: string;

  constructor(host: LabHost) {
    this.host = host;
    this.directory = path.join(freshDirectory(), 'node');
    this.interfaceName = `mt${process.pid.toString(36)}n${nodes++}`;
    this.logFile = path.join(this.directory, 'log', `${this.interfaceName}.log`);
  }

  mesh(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return this.host.run(launcher('mesh'), args, {
      env: { HOME: this.directory, MESH_CONFIG_DIR: this.directory, ...env },
    });
  }

  /** @throws Error with its output when it does not end with 0 */
  async must(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const { code, stdout, stderr } = await this.mesh(args, env);
    if (code !== 0) throw new Error(`${this.host.name}: mesh ${args[0]} ended with ${code}:\n${stdout}${stderr}`);
    return stdout;
  }

  init(token: string): Promise<string> {
    return this.must(['init', '--server', LAB_SERVER, '--name', this.host.name], { MESH_TOKEN: token });
  }

  upArguments(more: readonly string[] = []): string[] {
    const logDirectory = path.dirname(this.logFile);
    return ['up', '--daemon', '--interface', this.interfaceName, '--log-dir', logDirectory, ...more];
  }

  up(more: readonly string[] = []): Promise<string> {
    return this.must(this.upArguments(more));
  }

  down(): Promise<string> {
    return this.must(['down']);
  }

  async status(): Promise<NodeStatus> {
    return JSON.parse(await this.must(['status', '--json']));
  }

  async peer(name: string): Promise<PeerStatus | undefined> {
    return (await this.status()).peers.find((peer) => peer.name === name);
  }

  /** Asks for the status until it is so. */
  async until(isSo: (status: NodeStatus) => boolean, withinMs = 20_000): Promise<NodeStatus> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const status = await this.status();
      if (isSo(status)) return status;
      if (performance.now() > deadline)
        throw new Error(`${this.host.name} stayed so: ${JSON.stringify(status, null, 1)}`);
    }
  }

  /** Whether an address answers within the time. */
  async pings(address: string, seconds = 10): Promise<boolean> {
    const { code } = await this.host.run('ping', ['-n', '-c', '1', '-i', '0.2', '-w', `${seconds}`, address]);
    return code === 0;
  }
}
/** A node on each host of these names, joined and up. */
export async function labMeshes(
  lab: Natlab,
  plane: Pick<LabPlane, 'joinToken'>,
  names: readonly string[],
  more: readonly string[] = [],
): Promise<LabMesh[]> {
  const nodes: LabMesh[] = [];
  // One after the other, so that the first has the first address.
  for (const name of names) {
    const node = new LabMesh(lab.host(name));
    await node.init(await plane.joinToken({ name }));
    nodes.push(node);
  }
  await Promise.all(nodes.map((node) => node.up(more)));
  return nodes;
}
