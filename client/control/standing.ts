import { heartbeatTimes } from '../../core/model/heartbeat-times.ts';

/** Where this node stands with the control plane. */
export type Standing =
  /** Nothing heard yet in this process. */
  | 'unknown'
  /** An administrator has to approve it. */
  | 'pending'
  | 'ready'
  /** Shut out; it may be let in again. */
  | 'revoked'
  /** Deleted or expired: it has to register again. */
  | 'removed';

export const KEY_SHARED =
  'another machine uses the key of this node, as after copying its configuration directory: packets reach now one, now the other';

export interface ControlStatus {
  readonly standing: Standing;
  readonly server: string;
  /** Milliseconds since the epoch; null before the first answer. */
  readonly heardAt: number | null;
  /** Empty while the API answers. */
  readonly trouble: string;
  /** Another machine has the key of this node. */
  readonly isKeyShared: boolean;
  readonly bus: { readonly url: string; readonly isUp: boolean; readonly trouble: string };
  readonly graph: { readonly version: number; readonly epoch: string } | null;
}

/** Standing that a refusal of the control plane implies, for the graph or a heartbeat. */
export const STANDING_BY_REFUSAL: Readonly<Record<string, Standing>> = {
  peer_pending: 'pending',
  forbidden: 'revoked',
  not_found: 'removed',
  expired: 'removed',
  unauthenticated: 'removed',
};

/** Milliseconds from one heartbeat to the next while this node waits to be let in. */
const WAITING_BEAT_MS = 10_000;

export function isShutOut(standing: Standing): boolean {
  return standing !== 'ready' && standing !== 'unknown';
}

/** @param wire the version of the wire that is spoken; undefined before the first answer */
export function beatIntervalMs(standing: Standing, wire: number | undefined): number {
  return isShutOut(standing) ? WAITING_BEAT_MS : heartbeatTimes(wire).interval;
}
