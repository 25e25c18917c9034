import { newId } from '../base/ids.ts';
import type { RecordDraft, StoredRecord } from '../base/record.ts';
import { snapshotNameAt } from '../history/snapshot-record.ts';
import type { Owner } from '../model/workspaces.ts';

/** A signing secret, sealed (core/webhooks/secret.ts). */
export interface SealedSecret {
  readonly sealed: string;
  /** Until when it signs too, beside the one that replaced it; milliseconds. */
  readonly until?: number;
}

export interface WebhookSpec {
  readonly url: string;
  readonly description: string;
  /** Types of events, or `<prefix>.*`, or `*`. */
  readonly events: readonly string[];
  readonly enabled: boolean;
  /** The newest first. */
  readonly secrets: readonly SealedSecret[];
  /** Actor, such as `user:ada`. */
  readonly createdBy: string;
  /** Account that answers for it; null where its person has left. Absent where an older version made it: its maker. */
  readonly owner?: Owner | null;
}

export interface WebhookStatus {
  /** Entries of the audit log of the workspace before this one are dealt with. */
  readonly next: number;
  /** Since when no delivery has come through; milliseconds. */
  readonly failingSince?: number;
  /** Why the control plane disabled it, and when. */
  readonly disabled?: { readonly at: number; readonly reason: string };
}

export const DELIVERY_STATES = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** An event for one webhook. The uid is the `webhook-id`, the same at every attempt. */
export interface DeliverySpec {
  readonly webhook: string;
  readonly type: string;
  /** The JSON that is sent. */
  readonly body: string;
}

export interface DeliveryStatus {
  readonly state: DeliveryState;
  /** Attempts since it was queued or sent again last. */
  readonly attempts: number;
  /** When it is due, while it waits; milliseconds. */
  readonly nextAt?: number;
  readonly lastAt?: number;
  readonly responseStatus?: number;
  /** The beginning of what the receiver answered. */
  readonly response?: string;
  readonly error?: string;
  /** When it came to be delivered or dead. */
  readonly endedAt?: number;
}

declare module '../base/record.ts' {
  interface RecordTypes {
    Webhook: { spec: WebhookSpec; status: WebhookStatus };
    WebhookDelivery: { spec: DeliverySpec; status: DeliveryStatus };
  }
}

export type WebhookRecord = StoredRecord<'Webhook'>;
export type DeliveryRecord = StoredRecord<'WebhookDelivery'>;

/** Webhooks of one workspace. */
export const MAX_WEBHOOKS = 10;
/** Deliveries of one webhook that wait; events after them stay in the audit log until there is room. */
export const MAX_WAITING = 200;
/** Deliveries of one webhook that are over, the newest of which are kept. */
export const MAX_ENDED = 1_000;
export const DELIVERED_RETENTION_DAYS = 7;
export const DEAD_RETENTION_DAYS = 30;

const EMPTY = { labels: {}, annotations: {}, unique: [] } as const;

export function webhookDraft(spec: WebhookSpec, status: WebhookStatus, uid: string): RecordDraft<'Webhook'> {
  return { ...EMPTY, kind: 'Webhook', name: uid, uid, spec, status };
}

/**
 * Names run, for each webhook, from the newest to the oldest.
 *
 * @param place among those that are made at the same instant
 */
export function deliveryDraft(spec: DeliverySpec, now: number, place = 0): RecordDraft<'WebhookDelivery'> {
  const uid = newId('whd');
  const name = `${spec.webhook}.${snapshotNameAt(now + place)}.${uid}`;
  return { ...EMPTY, kind: 'WebhookDelivery', name, uid, spec, status: { state: 'waiting', attempts: 0, nextAt: now } };
}
