import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { getDelivery } from '../../core/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { deliveryDetailSchema, deliveryDetailView, deliveryId } from './delivery-view.ts';
import { webhookId } from './webhook-view.ts';

export const getWebhookDelivery = defineOperation({
  name: 'get_webhook_delivery',
  title: 'Get a delivery of a webhook',
  description: 'One delivery with the JSON that is sent.',
  input: z.strictObject({ id: webhookId, deliveryId }),
  output: deliveryDetailSchema,
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/webhooks/:id/deliveries/:deliveryId' },
  async run({ id, deliveryId: delivery }, context) {
    return deliveryDetailView(await getDelivery(context, id, delivery));
  },
});
