import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { createWebhook as create } from '../../core/webhooks/manage.ts';
import { defineOperation } from '../define.ts';
import { webhookFields, webhookSchema, webhookView } from './webhook-view.ts';

export const createWebhook = defineOperation({
  name: 'create_webhook',
  title: 'Make a webhook',
  description:
    'Has the events of a workspace posted to a URL from now on, signed as Standard Webhooks has it. The secret is shown this once.',
  input: z.strictObject({
    url: webhookFields.url,
    events: webhookFields.events,
    description: webhookFields.description.default(''),
    enabled: webhookFields.enabled.default(true),
  }),
  output: webhookSchema.extend({ secret: z.string() }),
  confidential: { answer: true },
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/workspaces/:workspaceId/webhooks', status: 201 },
  async run(input, context) {
    const { record, secret } = await create(context, input);
    return { ...webhookView(record), secret: secret.reveal() };
  },
});
