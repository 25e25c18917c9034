import { NodeRefusal } from '../../client/agent/launch.ts';
import { platformFirewall } from '../../client/firewall/platform.ts';
import { tunnelPlatform } from '../../client/tunnel/platform.ts';
import type { Log } from '../../core/base/ports.ts';
import { generateKeyPair } from '../../net/seal/x25519.ts';

/** TEST-NET-1, RFC 5737: the real block is known to the control plane alone. */
const TRIAL = { address: '192.0.2.1', cidr: '192.0.2.0/24' };
const MTU = 1_280;

/**
 * Makes the tunnel of a sandbox and a firewall without rules, by the code that makes the real ones, and removes both. Programs
 * that are installed and fail are found before a token is spent.
 *
 * @throws NodeRefusal
 */
export async function tryOverlay(
  interfaceName: string,
  namespace: string,
  log: Log,
  ending: AbortSignal,
): Promise<void> {
  const { privateKey } = generateKeyPair();
  try {
    const { open } = tunnelPlatform(process.platform);
    const where = { interfaceName, namespace, listenPort: 0 };
    const tunnel = await open({ ...TRIAL, ...where, privateKey, mtu: MTU, ending, log });
    try {
      const firewall = platformFirewall(process.platform, interfaceName, namespace);
      await firewall.apply(TRIAL, { in: [], out: [] }, Date.now());
      await firewall.close();
    } finally {
      await tunnel.close();
    }
  } catch (error) {
    throw new NodeRefusal(
      'no-tunnel',
      `This machine cannot run a sandbox: ${(error as Error).message.trim().replace(/\.$/, '')}. The token was not used.`,
    );
  }
}
