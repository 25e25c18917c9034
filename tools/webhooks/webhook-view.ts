import { z } from 'zod';
import { listOf } from '../../core/base/list.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { formatInstant } from '../../core/base/time.ts';
import { MAX_URL } from '../../core/webhooks/target.ts';
import type { WebhookRecord } from '../../core/webhooks/webhook-record.ts';

/** Subscriptions of one webhook. */
export const MAX_SUBSCRIPTIONS = 50;

/** The input fields of a webhook. */
export const webhookFields = {
  url: lineOfText(MAX_URL).min(1).describe('https, without user name and password'),
  events: listOf(lineOfText(TEXT_LIMITS.name).min(1), MAX_SUBSCRIPTIONS)
    .min(1)
    .describe('types of events, a prefix such as workflow.*, or * for all'),
  description: lineOfText(TEXT_LIMITS.title).trim(),
  enabled: z.boolean(),
};

export const webhookId = lineOfText(TEXT_LIMITS.id).min(1).describe('id of the webhook');

export const webhookSchema = z.strictObject({
  id: z.string(),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string(),
  enabled: z.boolean(),
  createdAt: z.string(),
  createdBy: z.string(),
  owner: z.string().nullable().describe('user name of who answers for it; null once they have left'),
  failingSince: z.string().nullable().describe('since when no delivery has come through'),
  disabledReason: z.string().nullable().describe('why the control plane disabled it'),
});

export function webhookView({ uid, spec, status, createdAt }: WebhookRecord): z.input<typeof webhookSchema> {
  const { url, events, description, enabled, createdBy, owner } = spec;
  return {
    id: uid,
    url,
    events: [...events],
    description,
    enabled,
    createdAt: formatInstant(createdAt),
    createdBy,
    owner: owner === undefined ? createdBy.replace(/^user:/, '') : (owner?.name ?? null),
    failingSince: status.failingSince === undefined ? null : formatInstant(status.failingSince),
    disabledReason: status.disabled?.reason ?? null,
  };
}
