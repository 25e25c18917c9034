import type { Grant } from './credentials.ts';
import type { Limits } from './limits.ts';
import type { Metrics } from './metrics.ts';
import type { BufferPool } from './outbox.ts';
import type { Routable } from './router.ts';
import type { Session } from './session.ts';
import type { Publication } from './sink.ts';

/** Why a connection ended; `client` = it went away by itself. */
export type CloseReason =
  | 'client'
  | 'protocol'
  | 'payload'
  | 'unauthorized'
  | 'auth-timeout'
  | 'revoked'
  | 'slow'
  | 'stale'
  | 'limit'
  | 'shutdown';

/** The parts of the broker that a session needs. */
export interface Hub {
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly pool: BufferPool;
  /** Time of the input being handled, in milliseconds since the epoch. */
  readonly now: number;
  /** Bytes encoded since commands were last taken. */
  fresh: number;
  /** Receivers are so far behind that memory runs short. */
  readonly crowded: boolean;
  verify(secret: string): Grant | undefined;
  /** The session has proven that it is that node's: from now on it counts in the limits of this one. */
  identify(session: Session, node: string): void;
  /** False when there is no room for it, in all or in what its source may have. */
  addSubscription(subscription: Subscription): boolean;
  removeSubscription(subscription: Subscription): void;
  publish(from: Session, publication: Publication): void;
  /** The session has something to send. */
  wake(session: Session): void;
  /** The session's receiver is cut off. */
  overflow(session: Session): void;
  /** The session wants to end once its answers are written. */
  end(session: Session, reason: CloseReason): void;
}

export interface Subscription extends Routable {
  readonly session: Session;
  /** Messages on denied subjects inside its wildcard are withheld. */
  readonly filtered: boolean;
  delivered: number;
  /** Messages after which it ends; 0 = never. */
  max: number;
  open: boolean;
}
