import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { updateWebhook as update } from '../../core/webhooks/manage.ts';
import { defineOperation } from '../define.ts';
import { webhookFields, webhookId, webhookSchema, webhookView } from './webhook-view.ts';

export const updateWebhook = defineOperation({
  name: 'update_webhook',
  title: 'Change a webhook',
  description: 'Changes the fields that are sent. Enabled again, it is told what happens from then on.',
  input: z.strictObject({ id: webhookId, ...z.object(webhookFields).partial().shape }),
  output: webhookSchema,
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'patch', path: '/api/v1/workspaces/:workspaceId/webhooks/:id' },
  async run({ id, ...patch }, context) {
    return webhookView(await update(context, id, patch));
  },
});
