import { runProgram } from '../client/run-program.ts';
import { CliError, EXIT } from './exit.ts';

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

/** Sends an ICMP echo with the system's own program. Returns milliseconds, or null without an answer within a second. */
export async function echo(address: string, size: readonly string[] = []): Promise<number | null> {
  const { code, stdout, stderr } = await runProgram('ping', ['-n', '-c', '1', '-W', '1', ...size, address]);
  if (code === null && /ENOENT/.test(stderr)) {
    throw new CliError('The program ping is missing: apt-get install iputils-ping', EXIT.unavailable);
  }
  const ms = /time[=<]([\d.]+)/.exec(stdout)?.[1];
  return code === 0 && ms !== undefined ? Number(ms) : null;
}

/** Asked of a peer that answers small echoes. */
export async function largePackets(address: string): Promise<LargePackets> {
  for (let tries = 0; tries < LARGE_TRIES; tries += 1) {
    if ((await echo(address, ['-s', `${MTU - ECHO_HEADERS}`])) !== null) return { bytes: MTU, isLost: false };
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
