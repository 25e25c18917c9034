import { z } from 'zod';
import { formatInstant } from '../time.ts';
import { hostCount, isHostOf } from './address.ts';
import { networkSpecSchema } from './network-spec.ts';
import type { NetworkRecord } from './resources.ts';
import type { NetworkState } from './state.ts';

/** A network as answers show it. */
export const networkView = z.strictObject({
  id: z.string(),
  name: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
  spec: networkSpecSchema,
  createdAt: z.string(),
  generation: z.int(),
  revision: z.int(),
  status: z.strictObject({
    peers: z.int(),
    allocated: z.int().describe('Addresses that peers hold'),
    available: z.int().describe('Addresses that no peer holds; a freed one rests 24 hours'),
  }),
});

export type NetworkView = z.input<typeof networkView>;

export function viewOfNetwork(network: NetworkRecord, { peers }: NetworkState): NetworkView {
  const { uid, name, labels, annotations, spec, createdAt, generation, revision } = network;
  const members = [...peers.values()].filter((peer) => peer.spec.network === name);
  const allocated = members.filter(
    ({ status }) => status.address !== null && isHostOf(spec.cidr, status.address),
  ).length;
  return {
    id: uid,
    name,
    labels,
    annotations,
    spec,
    createdAt: formatInstant(createdAt),
    generation,
    revision,
    status: { peers: members.length, allocated, available: hostCount(spec.cidr) - allocated },
  };
}
