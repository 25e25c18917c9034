import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { testWebhook as test } from '../../core/webhooks/manage.ts';
import { defineOperation } from '../define.ts';
import { deliverySchema, deliveryView } from './delivery-view.ts';
import { webhookId } from './webhook-view.ts';

export const testWebhook = defineOperation({
  name: 'test_webhook',
  title: 'Test a webhook',
  description: 'Sends the event webhook.test to one webhook. Its delivery tells what was answered.',
  input: z.strictObject({ id: webhookId }),
  output: deliverySchema,
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/workspaces/:workspaceId/webhooks/:id/test' },
  async run({ id }, context) {
    return deliveryView(await test(context, id));
  },
});
