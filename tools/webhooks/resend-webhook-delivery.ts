import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { resendDelivery } from '../../core/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { deliveryId, deliverySchema, deliveryView } from './delivery-view.ts';
import { webhookId } from './webhook-view.ts';

export const resendWebhookDelivery = defineOperation({
  name: 'resend_webhook_delivery',
  title: 'Send a delivery again',
  description: 'Sends a delivery again that is over, with the same webhook-id, at once and as often as a new one.',
  input: z.strictObject({ id: webhookId, deliveryId }),
  output: deliverySchema,
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/workspaces/:workspaceId/webhooks/:id/deliveries/:deliveryId/resend' },
  async run({ id, deliveryId: delivery }, context) {
    return deliveryView(await resendDelivery(context, id, delivery));
  },
});
