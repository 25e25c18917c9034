import { runProgram } from '../run-program.ts';
import { removeSharingRules, sharingRules } from './rules.ts';
import { isPortShared, selfTestAnswer } from './self-test.ts';
import type { SharedPort, SharedPortOptions } from './shared-port.ts';
import { openPortSockets } from './sockets.ts';

/** Shares the port of a WireGuard that has its own socket: a second socket, and rules of nftables that change ports. */
export async function openPortByRules(options: SharedPortOptions): Promise<SharedPort> {
  const { interfaceName, wireguardPort, log, onDatagram } = options;
  const sockets = await openPortSockets(onDatagram, log);
  return {
    send: (to, bytes) => sockets.send(to, bytes),
    async share() {
      const stdin = sharingRules(interfaceName, wireguardPort, sockets.port);
      const { code, stderr } = await runProgram('nft', ['-f', '-'], { stdin });
      if (code === 0) {
        return (await isPortShared(wireguardPort))
          ? null
          : `STUN to UDP port ${wireguardPort} of this host does not reach the agent: see whether another firewall table drops it.`;
      }
      const [reason = ''] = stderr.trim().split('\n');
      return /ENOENT/.test(reason)
        ? 'The program nft is missing: install nftables, so that the agent can share the port of WireGuard.'
        : `nft refused the rules that share the port of WireGuard: ${reason}`;
    },
    isShared: () => isPortShared(wireguardPort),
    answerOf: selfTestAnswer,
    async close() {
      await sockets.close();
      await removeSharingRules(interfaceName);
    },
  };
}
