import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { getWebhook as get } from '../../core/webhooks/manage.ts';
import { defineOperation } from '../define.ts';
import { webhookId, webhookSchema, webhookView } from './webhook-view.ts';

export const getWebhook = defineOperation({
  name: 'get_webhook',
  title: 'Get a webhook',
  description: 'One webhook, since when it fails, and why it was disabled.',
  input: z.strictObject({ id: webhookId }),
  output: webhookSchema,
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/webhooks/:id' },
  async run({ id }, context) {
    return webhookView(await get(context, id));
  },
});
