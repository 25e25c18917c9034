import type { NodeTrace } from '../../client/agent/node-traces.ts';
import type { OverlayParts } from '../../client/agent/overlay.ts';
import { platformFirewall, platformHostRules } from '../../client/firewall/platform.ts';
import { startConnectivity } from '../../client/paths/runtime.ts';
import { tunnelPlatform } from '../../client/tunnel/platform.ts';

/**
 * The parts of an overlay for this operating system; `directory` is that of the node, `left` the
 * note of an earlier agent that did not end in order.
 */
export function overlayParts(directory: string, left: NodeTrace | undefined): OverlayParts {
  return {
    platform: tunnelPlatform(process.platform),
    openFirewall: async (interfaceName) => platformFirewall(process.platform, interfaceName),
    hostRules: (interfaceName) => platformHostRules(process.platform, interfaceName, directory),
    startConnectivity,
    removeLeft: async (publicKey) => {
      if (left) await (await import('./host-cleanup.ts')).removeChanges(left, publicKey);
    },
  };
}
