import { newId } from '../base/ids.ts';
import type { CommitContext, Op } from '../base/ports.ts';
import { draftOf } from '../base/record.ts';
import { serialized } from '../base/serialize.ts';
import type { BaseServices } from '../model/services.ts';
import { type DeliveryCapacity, deliveryCapacityOf } from './deliveries.ts';
import { subscribes } from './event-types.ts';
import { eventsOf, type LoggedEntry, type WebhookEvent } from './events.ts';
import { deliveryDraft, MAX_WAITING, type WebhookRecord } from './webhook-record.ts';

type QueueServices = Pick<BaseServices, 'store' | 'clock' | 'settings'>;

/** Entries of the log that are looked at for one commit of deliveries. */
const ENTRIES = 100;
/** Entries without a delivery after which a webhook's place in the log is written nevertheless. */
const IDLE_ENTRIES = 1_000;

/**
 * Turns what is in the audit log of a workspace into deliveries of its webhooks. The log is what is not yet queued: it holds
 * what was committed and nothing else, without a gap, so a crash between a change and this loses nothing. Deliveries and the
 * place in the log up to which they go are one commit. Where too many wait, the log does.
 *
 * @param from where to begin looking by webhook, further on than what is stored; kept up to date
 */
export async function queueEvents(
  services: QueueServices,
  workspace: string,
  from: Map<string, number>,
): Promise<void> {
  const { items } = await services.store.list(workspace, 'Webhook');
  for (const { uid, spec } of items) if (spec.enabled) await queueFor(services, workspace, uid, from);
}

async function queueFor(
  services: QueueServices,
  workspace: string,
  uid: string,
  from: Map<string, number>,
): Promise<void> {
  const { store } = services;
  const tree = store.auditTree(workspace);
  for (;;) {
    const isDone = await serialized(store, workspace, async () => {
      const webhook = await store.getById(workspace, 'Webhook', uid);
      if (!webhook?.spec.enabled) return true;
      const start = Math.max(webhook.status.next, from.get(uid) ?? 0);
      const texts = await tree.entries(start, ENTRIES);
      const { events, taken, removals } = await eventsIn(services, texts, webhook, () =>
        deliveryCapacityOf(store, workspace, uid),
      );
      const next = start + taken;
      if (events.length > 0 || next - webhook.status.next >= IDLE_ENTRIES) {
        await store.commit(workspace, [...opsOf(services, webhook, events, next), ...removals], context());
      }
      from.set(uid, next);
      return taken < ENTRIES;
    });
    if (isDone) return;
  }
}

/** Events of the first entries that there is room for. */
async function eventsIn(
  services: QueueServices,
  texts: readonly string[],
  { spec }: WebhookRecord,
  roomOf: () => Promise<DeliveryCapacity>,
): Promise<{ readonly events: readonly WebhookEvent[]; readonly taken: number; readonly removals: readonly Op[] }> {
  const events: WebhookEvent[] = [];
  let room: DeliveryCapacity | undefined;
  for (const [index, text] of texts.entries()) {
    const entry: LoggedEntry = JSON.parse(text);
    const all = await eventsOf(services, entry);
    const wanted = all.filter(({ type }) => spec.events.some((each) => subscribes(each, type)));
    if (wanted.length === 0) continue;
    // Read only where something is to be queued: most entries are about nothing that a webhook wants.
    room ??= await roomOf();
    // An entry with more events than the whole queue holds waits until the queue is empty.
    const fits = events.length + wanted.length <= room.left || (events.length === 0 && room.left === MAX_WAITING);
    if (!fits) return { events, taken: index, removals: room.ops };
    events.push(...wanted);
  }
  return { events, taken: texts.length, removals: room?.ops ?? [] };
}

function opsOf(
  { clock }: QueueServices,
  webhook: WebhookRecord,
  events: readonly WebhookEvent[],
  next: number,
): readonly Op[] {
  const now = clock.now();
  const status = { ...webhook.status, next };
  return [
    { op: 'update', record: { ...draftOf(webhook), status }, revision: webhook.revision },
    ...events.map((event, place): Op => ({ op: 'create', record: draftFor(webhook.uid, event, now, place) })),
  ];
}

/** A delivery of an event, due now. */
export function draftFor(webhook: string, { type, timestamp, data }: WebhookEvent, now: number, place = 0) {
  return deliveryDraft({ webhook, type, body: JSON.stringify({ type, timestamp, data }) }, now, place);
}

function context(): CommitContext {
  return { actor: 'system:webhooks', reason: 'queued events for a webhook', requestId: newId('r') };
}
