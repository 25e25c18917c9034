import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { DELIVERY_STATES, type DeliveryRecord } from '../../core/webhooks/webhook-record.ts';

export const deliveryId = lineOfText(TEXT_LIMITS.id).min(1).describe('id of the delivery');

export const deliverySchema = z.strictObject({
  id: z.string().describe('the webhook-id of its requests'),
  type: z.string(),
  status: z.enum(DELIVERY_STATES),
  attempts: z.number().int(),
  createdAt: z.string(),
  lastAttemptAt: z.string().nullable(),
  nextAttemptAt: z.string().nullable(),
  responseStatus: z.number().int().nullable(),
  response: z.string().nullable().describe('the beginning of what was answered'),
  error: z.string().nullable(),
});

export const deliveryDetailSchema = deliverySchema.extend({
  body: z.string().describe('the JSON that is sent, as it is signed'),
});

export function deliveryView({ uid, spec, status, createdAt }: DeliveryRecord): z.input<typeof deliverySchema> {
  const instant = (at: number | undefined) => (at === undefined ? null : formatInstant(at));
  return {
    id: uid,
    type: spec.type,
    status: status.state,
    attempts: status.attempts,
    createdAt: formatInstant(createdAt),
    lastAttemptAt: instant(status.lastAt),
    nextAttemptAt: instant(status.nextAt),
    responseStatus: status.responseStatus ?? null,
    response: status.response ?? null,
    error: status.error ?? null,
  };
}

export function deliveryDetailView(delivery: DeliveryRecord): z.input<typeof deliveryDetailSchema> {
  return { ...deliveryView(delivery), body: delivery.spec.body };
}
