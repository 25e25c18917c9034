import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { deleteWebhook as remove } from '../../core/webhooks/manage.ts';
import { defineOperation } from '../define.ts';
import { webhookId } from './webhook-view.ts';

export const deleteWebhook = defineOperation({
  name: 'delete_webhook',
  title: 'Delete a webhook',
  description: 'Deletes a webhook with its deliveries.',
  input: z.strictObject({ id: webhookId }),
  output: z.strictObject({ deleted: z.literal(true) }),
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/workspaces/:workspaceId/webhooks/:id' },
  async run({ id }, context) {
    await remove(context, id);
    return { deleted: true as const };
  },
});
