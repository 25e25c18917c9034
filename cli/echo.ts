import type { NodeStatus } from '../client/agent/node-status.ts';
import { runProgram } from '../client/run-program.ts';
import { CliError, EXIT } from './exit.ts';
import { askNode } from './node-agent.ts';

/** The result of sending packets of the full overlay size to a peer that answers small ones. */
export interface LargePackets {
  readonly bytes: number;
  readonly isLost: boolean;
}

/** Bytes of a packet inside the tunnel (docs/policy.md#meshnetwork), and of the headers of an echo. */
const MTU = 1_280;
const ECHO_HEADERS = 28;
/** A packet may be lost by chance: this many are not. */
const LARGE_TRIES = 3;

/** Sends an ICMP echo. @param bytes of the packet @returns milliseconds, or null without an answer within a second */
export type Echo = (address: string, bytes?: number) => Promise<number | null>;

/** By the system's own program. */
const systemEcho: Echo = async (address, bytes) => {
  const size = bytes === undefined ? [] : ['-s', `${bytes - ECHO_HEADERS}`];
  const { code, stdout, stderr } = await runProgram('ping', ['-n', '-c', '1', '-W', '1', ...size, address]);
  if (code === null && /ENOENT/.test(stderr)) {
    throw new CliError('The program ping is missing: apt-get install iputils-ping', EXIT.unavailable);
  }
  const ms = /time[=<]([\d.]+)/.exec(stdout)?.[1];
  return code === 0 && ms !== undefined ? Number(ms) : null;
};

/** A node without an interface sends echoes itself. @param status undefined while its agent does not run */
export function echoOf(configDir: string | undefined, status: NodeStatus | undefined): Echo {
  if (status?.node.tunnel !== 'userspace') return systemEcho;
  return async (address, bytes = 0) => {
    const { ms } = (await askNode(configDir, { ask: 'ping', address, bytes })) as { ms: number | null };
    return ms;
  };
}

/** Asked of a peer that answers small echoes. */
export async function largePackets(address: string, send: Echo): Promise<LargePackets> {
  for (let tries = 0; tries < LARGE_TRIES; tries += 1) {
    if ((await send(address, MTU)) !== null) return { bytes: MTU, isLost: false };
  }
  return { bytes: MTU, isLost: true };
}

/** Empty where nothing is lost. */
export function lossText(peer: string, { bytes, isLost }: LargePackets): string {
  if (!isLost) return '';
  const cause =
    'a link on the way takes no packets that large and does not say so (its MTU, or a firewall that drops ICMP)';
  return `Packets of ${bytes} bytes to ${peer} are lost, small ones arrive: ${cause}.`;
}
