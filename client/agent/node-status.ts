import { z } from 'zod';
import { ROUTE_REFUSALS } from '../routes/judge-route.ts';

/** Output of `mesh status --json`. Instants are ISO 8601 UTC; null is "not known" or "never". */
const instant = z.string().nullable();

const routeRefusal = z.object({
  cidr: z.string(),
  code: z.enum(ROUTE_REFUSALS),
  reason: z.string(),
  remedy: z.string(),
});

const peerStatus = z.object({
  id: z.string(),
  name: z.string(),
  address: z.string(),
  transport: z.enum(['probing', 'ice-ready', 'lrp-ready', 'failed', 'closed']),
  path: z.enum(['direct', 'relayed']).nullable(),
  /** Last WireGuard handshake. */
  handshake: instant,
  state: z.enum(['connected', 'idle', 'connecting', 'unreachable']),
  /** Milliseconds for which it has not answered; null where it does. An agent of an earlier version says none. */
  silentMs: z.number().nullable().default(null),
  /** Where WireGuard sends; in fd6c:7270:: while the relay is in use. */
  endpoint: z.string().nullable(),
  /** Name of the relay that carries its packets, where there are several; null while none does. */
  relay: z.string().nullable().default(null),
  reason: z.object({ code: z.string(), detail: z.string() }),
  since: instant,
  roundTripMs: z.number().nullable(),
  receivedBytes: z.number(),
  sentBytes: z.number(),
  expiresAt: instant,
});

export type PeerStatus = z.infer<typeof peerStatus>;

export const nodeStatusSchema = z.object({
  node: z.object({
    id: z.string(),
    name: z.string(),
    /** The name that it was started with and does not have yet, and why; an agent of an earlier version says none. */
    newName: z.object({ name: z.string(), detail: z.string() }).nullable().default(null),
    workspaceId: z.string(),
    publicKey: z.string(),
    /** Null while the overlay is down. */
    address: z.string().nullable(),
    cidr: z.string().nullable(),
    interface: z.string(),
    tunnel: z.enum(['kernel', 'wireguard-go', 'userspace']).nullable(),
    listenPort: z.number(),
    expiresAt: instant,
    pid: z.number(),
    startedAt: z.string(),
  }),
  control: z.object({
    server: z.string(),
    standing: z.enum(['unknown', 'pending', 'ready', 'revoked', 'removed']),
    heardAt: instant,
    trouble: z.string(),
    bus: z.object({ url: z.string(), isUp: z.boolean(), trouble: z.string() }),
    graph: z.object({ version: z.number(), epoch: z.string() }).nullable(),
  }),
  routes: z
    .object({
      /** CIDRs beyond the private ones, of `--accept-routes`. */
      accepted: z.array(z.string()),
      /** The block of its network, where this node does not route it: the overlay is down. */
      refused: routeRefusal.nullable(),
      /** A block that is routed as before, although it would be refused now. */
      carried: routeRefusal.nullable(),
    })
    .default({ accepted: [], refused: null, carried: null }),
  /** Witness of the audit log of its workspace (docs/audit.md#nodes-as-witnesses). */
  log: z.object({
    origin: z.string(),
    /** Entries of the newest checkpoint that agreed with those before; null before the first. */
    size: z.number().nullable(),
    root: z.string().nullable(),
    key: z.string().nullable(),
    verifiedAt: instant,
    /** Why the last one that was sent is refused; null while none is. */
    finding: z.object({ code: z.string(), message: z.string(), at: z.string() }).nullable(),
    trouble: z.string(),
  }),
  /** Null with --no-dns, and in a sandbox. */
  names: z
    .object({
      /** Suffix of all names. */
      domain: z.string().nullable(),
      server: z.string().nullable(),
      /** By what the host asks it; null where a person has to see to that. */
      resolver: z.string().nullable(),
      trouble: z.string(),
    })
    .nullable()
    .default(null),
  /** Null without one: in userspace mode alone there is. */
  proxy: z
    .object({
      /** For SOCKS5, CONNECT and plain HTTP. */
      address: z.string(),
      /** Null where the proxy asks for none. */
      user: z.string().nullable(),
      password: z.string().nullable(),
    })
    .nullable()
    .default(null),
  /** The nearest of several. */
  relay: z.object({
    state: z.string(),
    address: z.string().nullable(),
    reason: z.string().nullable(),
    sentPackets: z.number(),
    receivedPackets: z.number(),
    dropped: z.record(z.string(), z.number()),
    /** All of them; the first is that of nodes that know no other. An agent of an earlier version says none. */
    all: z
      .array(
        z.object({
          name: z.string(),
          region: z.string().nullable(),
          address: z.string(),
          /** `spare`: nothing needs it now, so there is no session. */
          state: z.enum(['ready', 'connecting', 'away', 'spare']),
          reason: z.string().nullable(),
          roundTripMs: z.number().nullable(),
          /** Number of peers without a direct path, whose packets it carries now. An agent of an earlier version counts all that it would carry. */
          peers: z.number(),
        }),
      )
      .default([]),
  }),
  icePort: z.object({
    isShared: z.boolean(),
    obstacle: z.string().nullable(),
    mapped: z.object({ ipv4: z.string().nullable(), ipv6: z.string().nullable() }),
  }),
  firewall: z.object({
    in: z.number(),
    out: z.number(),
    /** Rules of the host's own that drop what the network permits in; an agent of an earlier version says none. */
    blocked: z
      .array(
        z.object({
          table: z.string(),
          chain: z.string(),
          /** Null where the policy of the chain does it; without a text where nft did not list it. */
          rule: z.object({ handle: z.number(), text: z.string() }).nullable(),
          what: z.array(z.string()),
          text: z.string(),
        }),
      )
      .default([]),
    /** Reasons why chains of the host are not known; `what` is `all`. */
    notJudged: z.array(z.object({ what: z.array(z.string()), why: z.string() })).default([]),
    /** Addresses of the block of this node that the host translates into others, each with the rules that do. */
    translated: z.array(z.string()).default([]),
    /** By which tool of the host it accepts the overlay for this node; null where the node changed nothing of it. */
    opened: z.enum(['ufw', 'firewalld', 'nft']).nullable().default(null),
    /** Why it could not be opened or closed again, with the command that failed; empty where it could. */
    openTrouble: z.string().default(''),
    /** When the rules of the host were looked at for all of this. */
    lookedAt: instant.default(null),
  }),
  /** Signals and checks that were ignored, by reason. */
  ignored: z.record(z.string(), z.number()),
  /** Reason why the overlay is not up, or will not stay so; empty while there is none. */
  trouble: z.string(),
  peers: z.array(peerStatus),
});

export type HostFirewallStatus = Omit<z.infer<typeof nodeStatusSchema>['firewall'], 'in' | 'out'>;
export type NodeStatus = z.infer<typeof nodeStatusSchema>;
