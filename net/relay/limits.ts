import { MAX_PAYLOAD_BYTES } from './frame.ts';

/** Every bound of a relay; README.md lists them with their reasons. */
export interface RelayLimits {
  readonly maxSessions: number;
  readonly maxHandshakesPerSource: number;
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
  maxHandshakesPerSource: 1_024,
  handshakeMs: 10_000,
  keepaliveMs: 20_000,
  deadMs: 45_000,
  maxPayload: MAX_PAYLOAD_BYTES,
  queueBytes: 262_144,
  closeMs: 500,
  maxRevocations: 100_000,
  tokenSessionMs: 86_400_000,
};
