import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { rotateWebhookSecret as rotate } from '../../core/webhooks/manage.ts';
import { defineOperation } from '../define.ts';
import { webhookId, webhookSchema, webhookView } from './webhook-view.ts';

export const rotateWebhookSecret = defineOperation({
  name: 'rotate_webhook_secret',
  title: 'Rotate the secret of a webhook',
  description: 'Gives a webhook another secret, shown this once. For a day the old one signs too.',
  input: z.strictObject({ id: webhookId }),
  output: webhookSchema.extend({ secret: z.string(), oldSecretUntil: z.string() }),
  confidential: { answer: true },
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/workspaces/:workspaceId/webhooks/:id/rotate-secret' },
  async run({ id }, context) {
    const { record, secret, oldUntil } = await rotate(context, id);
    return { ...webhookView(record), secret: secret.reveal(), oldSecretUntil: oldUntil };
  },
});
