import { z } from 'zod';
import { isHostOf } from '../../core/network/address.ts';
import { parseAddress, parseCidr } from '../../core/network/cidr.ts';
import type { DeltaGraph, FetchGraph, FullGraph } from '../../core/network/graph.ts';
import { publicKeySchema } from '../../core/network/public-key.ts';

/**
 * The graph as a node takes it. What comes through here goes on to WireGuard, to routes and to nftables, so each text has
 * its exact form. Fields of later versions are dropped.
 */
const MAX_PEERS = 65_535;
const MAX_RULES = 1_000_000;

const id = z.string().regex(/^[\w-]{1,64}$/);
const name = z.string().regex(/^[\w.-]{1,63}$/);
const address = z
  .string()
  .max(45)
  .refine((text) => parseAddress(text) !== undefined, 'no IP address');
const cidr = z
  .string()
  .max(49)
  .refine((text) => parseCidr(text) !== undefined, 'no CIDR');
const instant = z.iso.datetime();
const hostPort = z.string().max(512);
const port = z.int().min(0).max(65_535);

const self = z
  .object({ id, name, address, cidr, phase: z.literal('ready'), expiresAt: instant.optional() })
  .refine((own) => isHostOf(own.cidr, own.address), 'the address is not one of its block');
const peer = z.object({
  id,
  name,
  publicKey: publicKeySchema,
  address,
  allowedIps: z.array(cidr).max(64),
  expiresAt: instant.optional(),
});
const rule = z
  .object({
    cidr,
    protocol: z.enum(['ALL', 'TCP', 'UDP', 'SCTP', 'ICMP']),
    from: port.optional(),
    to: port.optional(),
    expiresAt: instant.optional(),
  })
  .refine(({ from, to }) => (from === undefined) === (to === undefined) && (from ?? 0) <= (to ?? 0), 'no port range');
const rules = z.object({ in: z.array(rule).max(MAX_RULES), out: z.array(rule).max(MAX_RULES) });
const head = {
  epoch: z.string().max(128),
  version: z.int().min(0),
  reason: z.string().max(1_024),
  self,
  relay: z.object({ url: hostPort, credential: z.string().max(512), expiresAt: instant }).nullable(),
  stun: z.array(hostPort).max(8),
  checkpoint: z.string().max(4_096).nullable(),
};
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const peers = z.array(peer).max(MAX_PEERS);

export const fullGraphSchema = z.object({
  kind: z.literal('full'),
  ...head,
  peers,
  firewall: z.object({ digest, full: rules }),
}) as unknown as z.ZodType<FullGraph>;

const deltaGraphSchema = z.object({
  kind: z.literal('delta'),
  ...head,
  base: z.int().min(0),
  peers: z.object({ added: peers, updated: peers, removed: z.array(id).max(MAX_PEERS) }),
  firewall: z.object({ digest, delta: z.object({ added: rules, removed: rules }) }),
}) as unknown as z.ZodType<DeltaGraph>;

const fetchGraphSchema: z.ZodType<FetchGraph> = z.object({
  kind: z.literal('fetch'),
  epoch: head.epoch,
  version: head.version,
  reason: head.reason,
});

/** What the control plane sends on a node's graph subject. `gone`: this node was shut out or removed. */
export type GraphMessage = FullGraph | DeltaGraph | FetchGraph | { readonly kind: 'gone' };

const messageSchema = z.union([
  fullGraphSchema,
  deltaGraphSchema,
  fetchGraphSchema,
  z.object({ kind: z.literal('gone') }),
]);

/** Undefined for anything that is no such message. */
export function parseGraphMessage(bytes: Uint8Array): GraphMessage | undefined {
  try {
    return messageSchema.safeParse(JSON.parse(Buffer.from(bytes).toString())).data;
  } catch {
    return undefined;
  }
}

/** A graph as it was kept on disk. */
export function parseFullGraph(text: string): FullGraph | undefined {
  try {
    return fullGraphSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
