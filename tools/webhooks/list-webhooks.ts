import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { listWebhooks as list } from '../../core/webhooks/manage.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { webhookSchema, webhookView } from './webhook-view.ts';

export const listWebhooks = defineOperation({
  name: 'list_webhooks',
  title: 'List webhooks',
  description: 'The webhooks of the workspace, without their secrets.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({ items: z.array(webhookSchema), next_cursor: z.string().optional() }),
  columns: { Id: 'id', Url: 'url', Events: 'events', Enabled: 'enabled', 'Failing since': 'failingSince' },
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/webhooks' },
  async run(query, context) {
    return pageOf(await list(context), query, webhookView);
  },
});
