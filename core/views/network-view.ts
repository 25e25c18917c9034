import { z } from 'zod';
import { memoize } from '../base/memoize.ts';
import { hostCount, isHostOf } from '../changes/address.ts';
import { networkSpecSchema } from '../model/network-spec.ts';
import type { NetworkRecord } from '../model/resources.ts';
import type { NetworkState } from '../state/state.ts';
import { recordSchema, recordView } from './record-view.ts';

/** A network as answers show it. */
export const networkSchema = recordSchema(
  networkSpecSchema,
  z.strictObject({
    peers: z.int(),
    allocated: z.int().describe('Addresses that peers hold'),
    available: z.int().describe('Addresses that no peer holds; a freed one is given again last'),
    former: z
      .strictObject({
        cidr: z.string(),
        phase: z.enum(['carried', 'resting']).describe('carried: peers have addresses of both blocks'),
        until: z.string(),
      })
      .optional()
      .describe('The block before it was renumbered'),
  }),
);

export type NetworkView = z.input<typeof networkSchema>;

const membersOf = memoize((peers: NetworkState['peers']) => Map.groupBy(peers.values(), ({ spec }) => spec.network));

export function networkView(network: NetworkRecord, { peers }: NetworkState): NetworkView {
  const { name, spec, status } = network;
  const members = membersOf(peers).get(name) ?? [];
  const allocated = members.filter(
    ({ status: { address } }) => address !== null && isHostOf(spec.cidr, address),
  ).length;
  const available = hostCount(spec.cidr) - allocated;
  return recordView(network, { peers: members.length, allocated, available, ...status });
}
