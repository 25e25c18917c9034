import type { Firewall } from '../firewall.ts';
import { parseOwnAddress } from '../own-address.ts';
import { permissionsAt } from '../permissions.ts';
import { encodePermissions } from './encode-permissions.ts';

/** A network stack of this process that judges every packet, as far as the firewall needs it. */
export interface FilteredStack {
  /** Replaces all rules in one step, and ends the connections that they do not permit. */
  setRules(rules: Uint8Array): Promise<void>;
}

/** The rules of a node without an interface. Nothing else can change them, and they end with the process, as the tunnel does. */
export function userspaceFirewall(stack: FilteredStack): Firewall {
  return {
    async apply(own, rules, now) {
      parseOwnAddress(own);
      const [fromPeers, fromHere] = [permissionsAt(rules.in, now), permissionsAt(rules.out, now)];
      await stack.setRules(Buffer.concat([encodePermissions(fromPeers), encodePermissions(fromHere)]));
    },
    maintain: async () => false,
    isGuarded: () => true,
    watch: () => ({ close: async () => {} }),
    close: async () => {},
  };
}
