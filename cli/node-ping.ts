import { setTimeout as after } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { PeerStatus } from '../client/agent/node-status.ts';
import { type Answer, answering, formatIn } from './answer.ts';
import { type Echo, echoOf, type LargePackets, largePackets, lossText } from './echo.ts';
import { EXIT } from './exit.ts';
import { askNode, nodeStatus } from './node-agent.ts';
import { findPeer } from './node-peer.ts';
import { requireNodeRights } from './node-rights.ts';
import { reasonOf } from './node-status.ts';
import { ownNode } from './own-node.ts';
import { allowedText, ownVerdict } from './own-verdict.ts';
import { visibleLine } from './visible.ts';

interface PingOptions {
  readonly configDir?: string;
  readonly count: number;
  readonly untilDirect?: boolean;
  readonly timeout: number;
}

interface Reply {
  readonly peer: string;
  readonly address: string;
  /** Null when no answer came. */
  readonly ms: number | null;
  readonly path: PeerStatus['path'];
  readonly endpoint: string | null;
}

const PAUSE_MS = 1_000;
const UNTIL_DIRECT_PAUSE_MS = 250;

/** `mesh ping PEER`: whether a peer answers inside the overlay, and by which path. */
export function definePing(command: Command): void {
  command
    .argument('<peer>', 'name, id or overlay address')
    .option('--config-dir <dir>', 'directory that mesh init wrote (~/.mesh)')
    .option('-c, --count <n>', 'how often', wholeNumber, 4)
    .option('--until-direct', 'until the path is direct, for --timeout at most')
    .option('--timeout <seconds>', 'how long --until-direct tries', wholeNumber, 30);
  answering(command, async (peer: string, options: PingOptions): Promise<Answer> => {
    requireNodeRights('mesh ping', options.configDir);
    const found = await findPeer(options.configDir, peer);
    if (options.untilDirect) await askNode(options.configDir, { ask: 'hurry', peer: found.id });
    // A person sees each reply as it comes; the whole is one answer.
    const told = formatIn(command.opts()) === 'table' ? (line: string) => console.log(visibleLine(line)) : () => {};
    const send = echoOf(options.configDir, await nodeStatus(options.configDir));
    const { replies, last } = await ping(found, send, options, told);
    const isAnswered = replies.some(({ ms }) => ms !== null);
    const large: LargePackets | null = isAnswered ? await largePackets(last.address, send) : null;
    const isGood = options.untilDirect ? last.path === 'direct' : isAnswered;
    const text = [
      last.path === 'direct' || isOutrun(replies.at(-1)) ? '' : reasonOf(last),
      isAnswered ? '' : await policyText(options.configDir, last),
      large ? lossText(last.name, large) : '',
    ];
    return {
      value: { peer: last.name, path: last.path, reason: last.reason, replies, large },
      text: text.filter((line) => line !== ''),
      ...((!isGood || large?.isLost) && { exitCode: EXIT.negative }),
    };
  });
}

async function ping(
  peer: PeerStatus,
  send: Echo,
  options: PingOptions,
  told: (line: string) => void,
): Promise<{ replies: Reply[]; last: PeerStatus }> {
  const replies: Reply[] = [];
  const deadline = performance.now() + options.timeout * 1_000;
  for (;;) {
    const ms = await send(peer.address);
    const last = await findPeer(options.configDir, peer.id);
    const reply = { peer: last.name, address: last.address, ms, path: last.path, endpoint: last.endpoint };
    replies.push(reply);
    told(textOf(reply));
    const isEnough = options.untilDirect
      ? last.path === 'direct' || performance.now() > deadline
      : replies.length >= options.count;
    if (isEnough) return { replies, last };
    await after(options.untilDirect ? UNTIL_DIRECT_PAUSE_MS : PAUSE_MS);
  }
}

/** Why no echo can come back, where the graph of this node says so. */
async function policyText(configDir: string | undefined, { id, name }: PeerStatus): Promise<string> {
  const { graph } = await ownNode(configDir);
  const verdict = graph && ownVerdict(graph, { from: graph.self.id, to: id, protocol: 'ICMP', now: Date.now() });
  if (!verdict?.denied) return '';
  const allowed = verdict.allowed === 'ALL' || verdict.allowed.length === 0 ? 'nothing' : allowedText(verdict.allowed);
  return `Policy lets this node open to ${name}: ${allowed}. An echo is ICMP, and cannot pass.`;
}

function textOf({ peer, address, ms, path, endpoint }: Reply): string {
  const reached = path === null ? '' : `${path} via ${endpoint}`;
  return ms === null
    ? `no answer from ${peer} (${address}); ${reached || 'no path is open'}`
    : `${peer} (${address}) ${ms} ms ${reached}`.trimEnd();
}

/** An answer came by a path that had closed by the time that the node was asked. */
function isOutrun(reply: Reply | undefined): boolean {
  return reply !== undefined && reply.ms !== null && reply.path === null;
}

function wholeNumber(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It is a whole number above 0.');
}
