import type { OverlayParts } from '../client/agent/overlay.ts';
import { nftablesFirewall } from '../client/firewall/nftables.ts';
import { startConnectivity } from '../client/paths/runtime.ts';
import { linuxTunnels } from '../client/tunnel/linux.ts';

/** The parts of an overlay for this operating system. */
export function overlayParts(): OverlayParts {
  return {
    platform: linuxTunnels,
    openFirewall: async (interfaceName) => nftablesFirewall(interfaceName),
    startConnectivity,
  };
}
