import { z } from 'zod';
import { pastInstant } from '../../core/base/moment-text.ts';
import { CREATE } from '../../core/base/operation.ts';
import { parseInstant } from '../../core/base/time.ts';
import { resendDead } from '../../core/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { webhookId } from './webhook-view.ts';

export const resendDeadDeliveries = defineOperation({
  name: 'resend_dead_deliveries',
  title: 'Send dead deliveries again',
  description: 'Sends all again that have died since an instant, the oldest first.',
  input: z.strictObject({
    id: webhookId,
    since: pastInstant,
  }),
  output: z.strictObject({
    resent: z.number().int(),
    left: z.number().int().describe('for want of room: ask again later'),
  }),
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: CREATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'post', path: '/api/v1/workspaces/:workspaceId/webhooks/:id/resend-dead' },
  async run({ id, since }, context) {
    return resendDead(context, id, parseInstant(since));
  },
});
