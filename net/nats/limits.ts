/** Every limit of the broker, with its unit and reason. README.md lists them; the listener may lower or raise the first group. */

export interface Limits {
  /** Bytes of headers and payload in one message. The default of nats-server; clients read it from INFO. */
  readonly maxPayload: number;
  /** Bytes of arguments in one protocol line. The default of nats-server: room for any sane subject. */
  readonly maxControlLine: number;
  /** Open connections. A refused one hears so; the plane is built for 50,000 nodes. */
  readonly maxConnections: number;
  /** Subscriptions of one connection: a node needs four, a tool a few hundred. */
  readonly maxSubscriptions: number;
  /** Bytes of memory for the subscriptions of all connections, by `subscriptionBytes`: 50,000 nodes need a third. */
  readonly maxTotalSubscriptionBytes: number;
  /** Bytes waiting for one receiver before it is cut off as a slow consumer; never below MIN_PENDING_BYTES. */
  readonly maxPending: number;
  /**
   * Bytes waiting for all receivers. Above it the cut-off falls to MIN_PENDING_BYTES; above twice that, whoever needs
   * more while it has not taken its last write is cut off, so memory stays bounded.
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
}

/** The contract promises every receiver at least 2.5 MB (DESIGN 12). */
export const MIN_PENDING_BYTES = 2_621_440;

export const DEFAULT_LIMITS: Limits = {
  maxPayload: 1_048_576,
  maxControlLine: 4_096,
  maxConnections: 65_536,
  maxSubscriptions: 10_000,
  maxTotalSubscriptionBytes: 1_073_741_824,
  maxPending: 8_388_608,
  maxTotalPending: 536_870_912,
  maxTotalPartial: 268_435_456,
  pingIntervalMs: 120_000,
  maxPingsOut: 2,
  authTimeoutMs: 2_000,
  writeDeadlineMs: 10_000,
  stallMs: 50,
};

/** Bytes waiting for a receiver from which its publishers are held back: a socket buffer's worth, far from the cut-off. */
export const STALL_PENDING_BYTES = 1_048_576;

/** Tokens of a subject: each costs a node of the subscription tree, so one line must not make thousands. */
export const MAX_SUBJECT_TOKENS = 128;

/** Digits of a size argument, as in nats-server: more cannot be a size that is allowed. */
export const MAX_SIZE_DIGITS = 9;

/**
 * Buffers a receiver's bytes collect in, by bytes, and how many free ones are kept. It starts with the smallest: 1,000
 * receivers of one message stay within the CPU cache. The largest holds four reads of one publisher, so that they
 * become one write. Kept in all: 48 MiB.
 */
export const BUFFER_SIZES = [
  { bytes: 4_096, kept: 2_048 },
  { bytes: 16_384, kept: 1_024 },
  { bytes: 65_536, kept: 256 },
  { bytes: 262_144, kept: 32 },
] as const;

/** Receivers of one message from which on it is kept once for all of them; fewer get copies. */
export const TAPE_RECEIVERS = 4;

/**
 * What is kept once for many receivers before they are written. The bytes are what one write should have: fewer make
 * more writes, more leave the CPU cache. The frames bound what a receiver with a long sid can make of it.
 */
export const TAPE_BYTES = 65_536;
export const TAPE_FRAMES = 256;

/** Bytes queued after which the listener writes before the tick ends: one buffer's worth, still in the CPU cache. */
export const EARLY_FLUSH_BYTES = 262_144;

/** Bytes queued in the midst of a fan-out after which what is queued is written first: bounds one message to thousands. */
export const RELIEF_BYTES = 8_388_608;

/** Receivers held in one generation of the route cache; two generations are kept. About 200 bytes each. */
export const ROUTE_CACHE_TARGETS = 32_768;

/** Messages to the control plane it has not yet acknowledged; more are dropped and counted, nodes ask again over HTTP. */
export const MAX_CONTROL_IN_FLIGHT = 16_384;
/** The same in bytes. */
export const MAX_CONTROL_IN_FLIGHT_BYTES = 33_554_432;
