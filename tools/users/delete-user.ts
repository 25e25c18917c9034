import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { previewLeaving, deleteUser as remove } from '../../core/identity/users.ts';
import { defineOperation } from '../define.ts';
import { dryRunField, leftoverFields, leftoverView } from './leftover-view.ts';

export const deleteUser = defineOperation({
  name: 'delete_user',
  title: 'Delete an account',
  description:
    'Deletes an account, its memberships, sessions and API tokens, and ends its agents and join tokens, unless a successor takes them over. Webhooks and schedules pass to the successor or stay without an owner.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.name).min(1),
    dryRun: dryRunField,
    successor: lineOfText(TEXT_LIMITS.name)
      .min(1)
      .optional()
      .describe(
        'who takes over what it leaves where they are a member; unset: whom the settings of a workspace name, else agents and join tokens end',
      ),
  }),
  output: z.strictObject({ deleted: z.boolean().describe('false with dryRun'), ...leftoverFields }),
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: DELETE,
  ends: 'username',
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/users/:username' },
  async run({ username, successor, dryRun }, context) {
    if (dryRun) return { deleted: false, ...leftoverView(await previewLeaving(username, successor, context)) };
    await remove(username, successor, context);
    return { deleted: true };
  },
});
