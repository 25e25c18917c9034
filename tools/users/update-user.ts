import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { ACCOUNT_ROLES } from '../../core/identity/accounts.ts';
import { updateUser as update } from '../../core/identity/users.ts';
import { defineOperation } from '../define.ts';
import { userSchema, userView } from './user-view.ts';

export const updateUser = defineOperation({
  name: 'update_user',
  title: 'Change an account',
  description:
    'Changes the fields that are sent. A new role or password, or disabling the account, ends its sessions and API tokens; disabling it ends its agents for good, and withdraws what it asked for.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.name).min(1),
    displayName: lineOfText(TEXT_LIMITS.title).trim().optional(),
    role: z.enum(ACCOUNT_ROLES).optional(),
    disabled: z.boolean().optional(),
    password: z.string().min(1).max(TEXT_LIMITS.password).optional().describe('a new initial password'),
  }),
  output: userSchema,
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: UPDATE,
  confidential: { input: ['password'] },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'patch', path: '/api/v1/users/:username' },
  async run({ username, ...patch }, context) {
    return userView(await update(username, patch, context));
  },
});
