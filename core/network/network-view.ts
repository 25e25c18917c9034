import { z } from 'zod';
import { recordView, viewOfRecord } from '../record-view.ts';
import { hostCount, isHostOf } from './address.ts';
import { networkSpecSchema } from './network-spec.ts';
import type { NetworkRecord } from './resources.ts';
import type { NetworkState } from './state.ts';

/** A network as answers show it. */
export const networkView = recordView(
  networkSpecSchema,
  z.strictObject({
    peers: z.int(),
    allocated: z.int().describe('Addresses that peers hold'),
    available: z.int().describe('Addresses that no peer holds; a freed one is given again last'),
  }),
);

export type NetworkView = z.input<typeof networkView>;

export function viewOfNetwork(network: NetworkRecord, { peers }: NetworkState): NetworkView {
  const { name, spec } = network;
  const members = [...peers.values()].filter((peer) => peer.spec.network === name);
  const allocated = members.filter(
    ({ status }) => status.address !== null && isHostOf(spec.cidr, status.address),
  ).length;
  const available = hostCount(spec.cidr) - allocated;
  return viewOfRecord(network, { peers: members.length, allocated, available });
}
