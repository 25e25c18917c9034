import type { SlotLimits } from './connection-slots.ts';
import { MAX_PAYLOAD_BYTES } from './frame.ts';

/** Every bound of a relay; README.md lists them with their reasons. */
export interface RelayLimits {
  /** Sessions of nodes that have proven themselves. */
  readonly maxSessions: number;
  /** Connections that have not shown a credential yet; these take no place of a session. */
  readonly unproven: SlotLimits;
  /** Handshakes that one credential may have under way: it can be overheard where there is no TLS. */
  readonly maxHandshakesPerKey: number;
  readonly handshakeMs: number;
  readonly keepaliveMs: number;
  readonly deadMs: number;
  readonly maxPayload: number;
  readonly queueBytes: number;
  /** How long a closing session may take to hear its bye. */
  readonly closeMs: number;
  readonly maxRevocations: number;
  /** Life of a session that was opened with the shared token instead of a credential. */
  readonly tokenSessionMs: number;
}

export const RELAY_LIMITS: RelayLimits = {
  maxSessions: 20_000,
  unproven: { total: 4_096, perHost: 1_024, perSite: 2_048 },
  maxHandshakesPerKey: 4,
  handshakeMs: 10_000,
  keepaliveMs: 20_000,
  deadMs: 45_000,
  maxPayload: MAX_PAYLOAD_BYTES,
  queueBytes: 262_144,
  closeMs: 500,
  maxRevocations: 100_000,
  tokenSessionMs: 86_400_000,
};
