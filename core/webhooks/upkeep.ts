import { newId } from '../base/ids.ts';
import { type CommitContext, StoreError } from '../base/ports.ts';
import type { BaseServices } from '../model/services.ts';
import { DEAD_RETENTION_DAYS, DELIVERED_RETENTION_DAYS, type DeliveryRecord, MAX_ENDED } from './webhook-record.ts';

const DAY_MS = 86_400_000;
const BATCH = 100;

/** Removes deliveries that are over for long, those beyond what is kept of a webhook, and those without one. @returns how many */
export async function removeOldDeliveries(
  { store, clock }: Pick<BaseServices, 'store' | 'clock'>,
  workspace: string,
): Promise<number> {
  const { items } = await store.list(workspace, 'WebhookDelivery');
  if (items.length === 0) return 0;
  const webhooks = new Set((await store.list(workspace, 'Webhook')).items.map(({ uid }) => uid));
  const now = clock.now();
  const ended = new Map<string, number>();
  const old = items.filter(({ spec, status }) => {
    if (!webhooks.has(spec.webhook)) return true;
    if (status.state === 'waiting') return false;
    // The newest come first.
    const before = ended.get(spec.webhook) ?? 0;
    ended.set(spec.webhook, before + 1);
    return before >= MAX_ENDED || now - (status.endedAt ?? 0) > retentionMsOf(status);
  });
  const context: CommitContext = {
    actor: 'system:retention',
    reason: 'webhook deliveries past their time',
    requestId: newId('r'),
  };
  for (let from = 0; from < old.length; from += BATCH) {
    const ops = old.slice(from, from + BATCH).map(({ name, revision }) => {
      return { op: 'delete', key: { kind: 'WebhookDelivery', name }, revision } as const;
    });
    try {
      await store.commit(workspace, ops, context);
    } catch (error) {
      // A delivery of this batch was sent again or removed meanwhile; the others are removed within the next hour.
      if (!(error instanceof StoreError) || error.isOutage) throw error;
    }
  }
  return old.length;
}

function retentionMsOf({ state }: DeliveryRecord['status']): number {
  return (state === 'dead' ? DEAD_RETENTION_DAYS : DELIVERED_RETENTION_DAYS) * DAY_MS;
}
