import type { Share } from './budget.ts';

/** Every limit of the broker, with its unit and reason. README.md lists them; the listener may lower or raise the first group. */

export interface Limits {
  /** Bytes of headers and payload in one message. The default of nats-server; clients read it from INFO. */
  readonly maxPayload: number;
  /** Bytes of arguments in one protocol line. The default of nats-server: room for any sane subject. */
  readonly maxControlLine: number;
  /** Open connections. A refused one hears so; the plane is built for 50,000 nodes. */
  readonly maxConnections: number;
  /** The most that one node may hold: it needs one connection with four subscriptions; others are of earlier connects. */
  readonly node: Share;
  /**
   * The most that all strangers behind one address may hold: nodes until they have proven themselves, tools on the open bus.
   */
  readonly address: Share;
  /** Bytes of memory for the subscriptions of all connections, by `subscriptionBytes`: 50,000 nodes need half. */
  readonly maxTotalSubscriptionBytes: number;
  /**
   * Bytes waiting for one receiver, or for all of one source that are above MIN_PENDING_BYTES, before it is cut off as a
   * slow consumer. The default of nats-server for one receiver.
   */
  readonly maxPending: number;
  /**
   * Bytes waiting for all receivers. Above it the cut-off falls to MIN_PENDING_BYTES; above twice that, any stranger who
   * needs more while it has not taken its last write is cut off, so memory stays bounded.
   */
  readonly maxTotalPending: number;
  /** Bytes of unfinished messages of all connections: many half-sent large ones must not fill memory. */
  readonly maxTotalPartial: number;
  /** Milliseconds between the broker's PINGs. */
  readonly pingIntervalMs: number;
  /** PINGs in a row without an answer that end a connection. */
  readonly maxPingsOut: number;
  /** Milliseconds a connection has to send CONNECT when a credential is required. */
  readonly authTimeoutMs: number;
  /** Milliseconds one write may wait for the receiver's socket. */
  readonly writeDeadlineMs: number;
  /** Milliseconds a publisher waits for a receiver that is behind, once; then the receiver runs into its own limit. */
  readonly stallMs: number;
  /** Receivers of one message from which on it is kept once for all of them; fewer get copies. */
  readonly sharedFrom: number;
}

/** Every receiver has at least 2.5 MB (net/nats/README.md). */
export const MIN_PENDING_BYTES = 2_621_440;

/** The limits that the parser enforces. */
export type ParserLimits = Pick<Limits, 'maxPayload' | 'maxControlLine'>;

export const DEFAULT_LIMITS: Limits = {
  maxPayload: 1_048_576,
  maxControlLine: 4_096,
  maxConnections: 65_536,
  node: { connections: 8, subscriptions: 256, subscriptionBytes: 262_144, partialBytes: 8_388_608 },
  address: { connections: 1_024, subscriptions: 10_000, subscriptionBytes: 16_777_216, partialBytes: 33_554_432 },
  maxTotalSubscriptionBytes: 536_870_912,
  maxPending: 67_108_864,
  maxTotalPending: 536_870_912,
  maxTotalPartial: 268_435_456,
  pingIntervalMs: 120_000,
  maxPingsOut: 2,
  authTimeoutMs: 2_000,
  writeDeadlineMs: 10_000,
  stallMs: 50,
  sharedFrom: 4,
};

/** Bytes waiting for a receiver from which its publishers are held back: a socket buffer's worth, far from the cut-off. */
export const STALL_PENDING_BYTES = 1_048_576;

/** Part of the connections and of memory that strangers get; the rest is for nodes and for addresses they come from. */
export const STRANGERS_PART = 0.5;

/** Addresses remembered as those of nodes: more than the plane is built for. */
export const KNOWN_ADDRESSES = 65_536;

/** Tokens and bytes of a subject that is subscribed: Mesh's own have six tokens, 100 bytes. Each token may cost a node. */
export const MAX_SUBJECT_TOKENS = 32;
export const MAX_SUBJECT_BYTES = 512;

/** A rate and what may come at once. */
export interface Pace {
  readonly perSecond: number;
  readonly burst: number;
}

/**
 * Requests to the control plane, before it looks at any seal. A node makes one in 15 s and a few when it comes;
 * behind one address many may come at once, and after a restart all of them.
 */
export const CONTROL_PACE = {
  node: { perSecond: 10, burst: 50 },
  /** The rates of an unproven connection, of all of those behind one address, and of all of them. */
  stranger: { perSecond: 10, burst: 20 },
  address: { perSecond: 500, burst: 1_000 },
  strangers: { perSecond: 4_000, burst: 4_000 },
} as const satisfies Record<string, Pace>;

/** Signals and foreign messages to one node; signals are at most 30 for a negotiation; by the same senders. */
export const SIGNAL_PACE = {
  node: { perSecond: 20, burst: 200 },
  stranger: { perSecond: 20, burst: 200 },
  address: { perSecond: 40, burst: 400 },
  strangers: { perSecond: 100, burst: 1_000 },
} as const satisfies Record<string, Pace>;

/** Bytes of a paced message that count as one: real ones have less. */
export const PACED_BYTES = 4_096;

/** Digits of a size argument, as in nats-server: more cannot be a size that is allowed. */
export const MAX_SIZE_DIGITS = 9;

/**
 * Buffers a receiver's bytes collect in, by bytes, and how many free ones are kept. It starts with the smallest: 1,000
 * receivers of one message stay within the CPU cache. The largest holds four reads of one publisher, so that they
 * become one write. Kept in all: 48 MiB. Without them a graph of 4 KB to each of 1,000 peers costs 1.5 times the processor time.
 */
export const BUFFER_SIZES = [
  { bytes: 4_096, kept: 2_048 },
  { bytes: 16_384, kept: 1_024 },
  { bytes: 65_536, kept: 256 },
  { bytes: 262_144, kept: 32 },
] as const;

/**
 * Bytes, and below frames, that are stored once for many receivers until they are written. The bytes are the size that one
 * write should have: fewer make more writes, more leave the CPU cache. The frames bound the size that a receiver with a long
 * sid can make of it.
 */
export const SHARED_BUFFER_BYTES = 65_536;
export const SHARED_BUFFER_FRAMES = 256;

/** Bytes queued in the midst of a fan-out after which what is queued is written first: bounds one message to thousands. */
export const RELIEF_BYTES = 8_388_608;

/** Bytes held in the route cache, by `routeBytes`. */
export const ROUTE_CACHE_BYTES = 33_554_432;

/** Messages to the control plane it has not yet acknowledged; more are dropped and counted, nodes ask again over HTTP. */
export const MAX_CONTROL_IN_FLIGHT = 16_384;
/** The same in bytes. Strangers get STRANGERS_PART of both. */
export const MAX_CONTROL_IN_FLIGHT_BYTES = 33_554_432;
