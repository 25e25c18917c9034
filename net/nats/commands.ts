import type { CloseReason, Session } from './session.ts';

/** A message for the control plane's own subscription `sid`. */
export interface Delivery {
  readonly sid: string;
  readonly subject: string;
  readonly reply: string | undefined;
  /** The NATS header block, when there is one. */
  readonly headers: Uint8Array | undefined;
  readonly payload: Uint8Array;
  /** The node whose connection it came on, where that is proven. */
  readonly from: string | undefined;
  /** Number of that connection. */
  readonly connection: number;
}

/** A command for the code around the broker; commands are carried out in this order. */
export type Command =
  /** `take()` bytes of the session, write them, report `written()`, until there are none. */
  | { readonly kind: 'write'; readonly session: Session }
  /** Write what is left, then end the connection. `cut`: at once, the receiver does not read. */
  | { readonly kind: 'close'; readonly session: Session; readonly reason: CloseReason; readonly cut: boolean }
  /** Stop or go on reading from it. */
  | { readonly kind: 'pause' | 'resume'; readonly session: Session }
  | { readonly kind: 'deliver'; readonly session: Session; readonly delivery: Delivery };
