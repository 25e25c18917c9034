import type { Command } from 'commander';
import { z } from 'zod';
import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import { type NodeStatus, nodeStatusSchema } from '../client/agent/node-status.ts';
import { readNodeConfig } from '../client/enrol/node-config.ts';
import { type Answer, answering } from './answer.ts';
import { echo, type LargePackets, largePackets, lossText } from './echo.ts';
import { CliError, EXIT } from './exit.ts';
import { hostFirewallLines } from './host-firewall.ts';
import { nodeDirectory } from './node-directory.ts';
import { called } from './own-command.ts';
import { type TargetOptions, targetOf } from './session.ts';
import { withTarget } from './target.ts';
import { callInWorkspace } from './workspace.ts';

interface WhyOptions extends TargetOptions {
  readonly configDir?: string;
  readonly protocol?: string;
  readonly port?: string;
}

const explanationSchema = z.object({ denied: z.boolean(), explanation: z.string(), allowed: z.unknown() });
const pathSchema = z.object({
  name: z.string(),
  transport: z.string(),
  path: z.string().nullable(),
  reason: z.string(),
  since: z.string().nullable(),
});
type ReportedPath = z.infer<typeof pathSchema>;

/** `mesh why A B`: whether policy lets A reach B, and by which path the packets go. */
export function defineWhy(command: Command): void {
  answering(
    withTarget(command)
      .argument('<from>', 'peer that opens the connection: name or id')
      .argument('<to>', 'peer it is opened to: name or id')
      .option('--protocol <protocol>', 'TCP, UDP, SCTP or ICMP')
      .option('--port <port>', 'port of the connection')
      .option('--config-dir <dir>', 'of the node of this machine (~/.mesh)'),
    why,
  );
}

async function why(from: string, to: string, options: WhyOptions): Promise<Answer> {
  const local = await ownStatus(options.configDir);
  const target = { ...options, ...serverOfNode(options) };
  const isOwn = isSelf(local, from) || isSelf(local, to);
  // On a node without a session its own knowledge is still worth something.
  const ifSignedIn = <T>(asked: Promise<T>): Promise<T | undefined> =>
    asked.catch((error: unknown) => {
      if (error instanceof CliError && error.exitCode === EXIT.auth && isOwn) return undefined;
      throw error;
    });
  const policy = await ifSignedIn(policyOf(from, to, target));
  const path = (await ifSignedIn(pathOf(from, to, target, local))) ?? null;
  const back = (await ifSignedIn(pathOf(to, from, target, local))) ?? null;
  const host = isSelf(local, to) ? local?.firewall : undefined;
  const blocked = host?.blocked ?? [];
  const large = await largeFrom(from, to, local);
  const text = [
    policy?.explanation ?? called('Policy: unknown without a session: mesh login'),
    pathText(from, to, path),
    pathText(to, from, back),
    ...(host ? hostFirewallLines(host, nodeDirectory(options.configDir)) : []).map(
      (line) => `The firewall of ${to}'s own host: ${line}`,
    ),
    ...(large?.isLost ? [lossText(to, large)] : []),
  ];
  return {
    value: { from, to, policy: policy ?? null, path, back, blocked, large: large ?? null },
    text: text.join('\n'),
    ...((policy?.denied || blocked.length > 0 || large?.isLost) && { exitCode: EXIT.negative }),
  };
}

/** A node belongs to one control plane: that is asked unless another is named. */
function serverOfNode({ server, configDir }: WhyOptions): { readonly server?: string } {
  if (server !== undefined || process.env['MESH_SERVER'] !== undefined) return {};
  try {
    const own = readNodeConfig(nodeDirectory(configDir))?.server;
    return own === undefined ? {} : { server: own };
  } catch {
    // Not this user's to read.
    return {};
  }
}

/** Whether large packets arrive, where this node is the one that sends. */
async function largeFrom(from: string, to: string, local: NodeStatus | undefined): Promise<LargePackets | undefined> {
  const peer = isSelf(local, from) ? peerOf(local, to) : undefined;
  if (!peer?.path || (await echo(peer.address)) === null) return undefined;
  return largePackets(peer.address);
}

async function policyOf(from: string, to: string, options: WhyOptions) {
  const query = new URLSearchParams({ src: from, dst: to });
  if (options.protocol) query.set('protocol', options.protocol.toUpperCase());
  if (options.port) query.set('port', options.port);
  const path = `/api/v1/connectivity/explain?${query}`;
  return explanationSchema.parse(await callInWorkspace(targetOf(options), { method: 'get', path }));
}

/** By this node itself when it is the one that opens, else as that node reported it to the control plane. */
async function pathOf(from: string, to: string, options: WhyOptions, local: NodeStatus | undefined) {
  if (isSelf(local, from)) {
    const peer = peerOf(local, to);
    return peer && pathSchema.parse({ ...peer, reason: `${peer.reason.detail} (${peer.reason.code})` });
  }
  const path = `/api/v1/peers/${encodeURIComponent(from)}/paths`;
  const answer = await callInWorkspace(targetOf(options), { method: 'get', path });
  const { items } = z.object({ items: z.array(pathSchema.extend({ peer: z.string() })) }).parse(answer);
  return items.find(({ peer, name }) => peer === to || name.toLowerCase() === normal(to));
}

/** What the agent of this machine says; nothing when none runs or it may not be asked. */
async function ownStatus(configDir: string | undefined): Promise<NodeStatus | undefined> {
  try {
    return nodeStatusSchema.parse(await askAgent(localSocketPath(nodeDirectory(configDir)), { ask: 'status' }));
  } catch {
    return undefined;
  }
}

function isSelf(local: NodeStatus | undefined, peer: string): boolean {
  return local !== undefined && (local.node.id === peer || local.node.name.toLowerCase() === normal(peer));
}

const normal = (name: string) => name.replaceAll(' ', '-').toLowerCase();

function peerOf(local: NodeStatus | undefined, wanted: string) {
  return local?.peers.find(({ id, name }) => id === wanted || name.toLowerCase() === normal(wanted));
}

function pathText(from: string, to: string, reported: ReportedPath | null): string {
  if (!reported) return `${from} has not reported how it reaches ${to}.`;
  const { name, transport, path, reason, since } = reported;
  return `Path from ${from} to ${name}: ${path ?? 'none yet'} (${transport}) since ${since ?? '-'}: ${reason}`;
}
