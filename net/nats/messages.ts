import type { Delivery } from './commands.ts';
import type { Credential } from './credentials.ts';
import type { ListenerOptions } from './listener.ts';
import type { Metrics } from './metrics.ts';

/** The messages between the main thread and the broker's thread. */

export interface OutgoingMessage {
  readonly subject: string;
  readonly reply?: string;
  readonly payload: Uint8Array;
}

export type ToWorker =
  | ({ readonly kind: 'subscribe' } & ControlSubscription)
  | { readonly kind: 'unsubscribe'; readonly sid: string }
  | { readonly kind: 'publish'; readonly messages: readonly OutgoingMessage[] }
  | { readonly kind: 'credentials'; readonly set: readonly Credential[]; readonly remove: readonly string[] }
  /** The content of a delivery has proven that its connection is that node's. */
  | { readonly kind: 'identify'; readonly connection: number; readonly node: string }
  /** The control plane has handled deliveries; as many more may be on the way. */
  | { readonly kind: 'acknowledge'; readonly messages: number; readonly bytes: number }
  /** Answered when everything said before is done. */
  | { readonly kind: 'flush'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number }
  | { readonly kind: 'lame-duck'; readonly durationMs: number }
  | { readonly kind: 'stop' };

export type FromWorker =
  | { readonly kind: 'listening'; readonly host: string; readonly port: number }
  | { readonly kind: 'failed'; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'deliver'; readonly deliveries: readonly Delivery[] }
  | { readonly kind: 'flushed'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly metrics: Metrics }
  /** Clients were refused for lack of a valid credential, so many since this was said last. */
  | { readonly kind: 'refused'; readonly count: number }
  | { readonly kind: 'stopped' };

export interface ControlSubscription {
  readonly sid: string;
  readonly subject: string;
  readonly queue?: string;
}

/**
 * The options that the thread starts with. Credentials and the control plane's subscriptions are known before the port listens.
 */
export interface WorkerOptions extends ListenerOptions {
  readonly subscriptions: readonly ControlSubscription[];
  readonly credentials: readonly Credential[];
}
