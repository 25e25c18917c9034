import type { Command } from 'commander';
import { z } from 'zod';
import { askAgent, localSocketPath } from '../client/agent/local-socket.ts';
import { type NodeStatus, nodeStatusSchema } from '../client/agent/node-status.ts';
import { type Answer, answering } from './answer.ts';
import { CliError, EXIT } from './exit.ts';
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
  const policy = await policyOf(from, to, options).catch((error: unknown) => {
    // On a node without a session its own knowledge is still worth something.
    if (error instanceof CliError && error.exitCode === EXIT.auth && isSelf(local, from)) return undefined;
    throw error;
  });
  const reported = (await pathOf(from, to, options, local)) ?? null;
  const text = [
    policy?.explanation ?? called('Policy: unknown without a session: mesh login'),
    reported ? pathText(from, reported) : `${from} has not reported how it reaches ${to}.`,
  ];
  return {
    value: { from, to, policy: policy ?? null, path: reported },
    text: text.join('\n'),
    ...(policy?.denied && { exitCode: EXIT.negative }),
  };
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
    const peer = local?.peers.find(({ id, name }) => id === to || name.toLowerCase() === normal(to));
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

function pathText(from: string, { name, transport, path, reason, since }: ReportedPath): string {
  return `Path from ${from} to ${name}: ${path ?? 'none yet'} (${transport}) since ${since ?? '-'}: ${reason}`;
}
