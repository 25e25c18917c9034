import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { deleteUser as remove } from '../../core/identity/users.ts';
import { defineOperation } from '../define.ts';

export const deleteUser = defineOperation({
  name: 'delete_user',
  title: 'Delete an account',
  description:
    'Deletes an account, its memberships, sessions and tokens, and ends its agents, unless a successor takes them over.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.name).min(1),
    successor: lineOfText(TEXT_LIMITS.name)
      .min(1)
      .optional()
      .describe('who takes over its agents where they are a member; unset: they end'),
  }),
  output: z.strictObject({ deleted: z.literal(true) }),
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: DELETE,
  ends: 'username',
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/users/:username' },
  async run({ username, successor }, context) {
    await remove(username, successor, context);
    return { deleted: true as const };
  },
});
