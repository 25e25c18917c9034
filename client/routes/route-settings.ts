import type { FullGraph } from '../../core/model/graph.ts';
import type { NodeConfig } from '../enrol/node-config.ts';
import type { HostRules } from '../firewall/host/host-rules.ts';
import { judgeRoute } from './judge-route.ts';
import { type Resolve, usedAddresses } from './used-addresses.ts';

/**
 * Returns the configuration with what it says of routes. One of an earlier version says nothing: where that version routed a
 * block that is refused now, the block stays and is written down.
 *
 * @param kept graph that the node held
 * @param translations of this host
 */
export async function withRouteSettings(
  config: NodeConfig,
  kept: FullGraph | undefined,
  translations: HostRules['translations'],
  resolve?: Resolve,
): Promise<NodeConfig> {
  if (config.acceptRoutes !== undefined) return config;
  const settled = { ...config, acceptRoutes: [] };
  if (!kept) return settled;
  const { cidr } = kept.self;
  const used = await usedAddresses(config, kept, resolve);
  const translated = await translations(cidr, 'at start');
  const isCarried = 'refusal' in judgeRoute(cidr, { accepted: [], used, translated, collisions: [], isAlone: false });
  return isCarried ? { ...settled, carriedBlock: cidr } : settled;
}
