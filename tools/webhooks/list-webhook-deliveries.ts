import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { listDeliveries } from '../../core/webhooks/deliveries.ts';
import { DELIVERY_STATES } from '../../core/webhooks/webhook-record.ts';
import { defineOperation } from '../define.ts';
import { pageQuery } from '../page.ts';
import { deliverySchema, deliveryView } from './delivery-view.ts';
import { webhookId } from './webhook-view.ts';

export const listWebhookDeliveries = defineOperation({
  name: 'list_webhook_deliveries',
  title: 'List the deliveries of a webhook',
  description: 'Newest first, with what was answered to each and when it is tried again.',
  input: z.strictObject({ id: webhookId, status: z.enum(DELIVERY_STATES).optional(), ...pageQuery }),
  output: z.strictObject({ items: z.array(deliverySchema), next_cursor: z.string().optional() }),
  columns: {
    Id: 'id',
    Event: 'type',
    Status: 'status',
    Attempts: 'attempts',
    Answer: 'responseStatus',
    Error: 'error',
    Next: 'nextAttemptAt',
    Made: 'createdAt',
  },
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/webhooks/:id/deliveries' },
  async run({ id, status, cursor, limit }, context) {
    const { items, next } = await listDeliveries(context, id, { state: status, cursor, limit });
    return { items: items.map(deliveryView), ...(next !== undefined && { next_cursor: next }) };
  },
});
