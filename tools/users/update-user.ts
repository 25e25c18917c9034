import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { ACCOUNT_ROLES, findAccount } from '../../core/identity/accounts.ts';
import { previewLeaving, requireAccount, updateUser as update } from '../../core/identity/users.ts';
import { defineOperation } from '../define.ts';
import { dryRunField, leftoverFields, leftoverView } from './leftover-view.ts';
import { changedUserSchema, changedUserView, userView } from './user-view.ts';

export const updateUser = defineOperation({
  name: 'update_user',
  title: 'Change an account',
  description:
    'Changes the fields that are sent. A new role or password, or disabling the account, ends its sessions and API tokens; disabling it withdraws what it asked for, and ends its agents and join tokens for good, unless the settings of a workspace name a successor; webhooks and schedules stay without an owner.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.name).min(1),
    displayName: lineOfText(TEXT_LIMITS.title).trim().optional(),
    role: z.enum(ACCOUNT_ROLES).optional(),
    disabled: z.boolean().optional(),
    dryRun: dryRunField.describe('change nothing; say what disabling it would end, and what would pass to whom'),
    password: z.string().min(1).max(TEXT_LIMITS.password).optional().describe('a new initial password'),
  }),
  output: changedUserSchema.extend(leftoverFields),
  access: 'users:write',
  workspace: 'none',
  edition: 'community',
  effects: UPDATE,
  confidential: { input: ['password'] },
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'patch', path: '/api/v1/users/:username' },
  async run({ username, dryRun, ...patch }, context) {
    if (dryRun) {
      const left = await previewLeaving(username, undefined, context);
      const account = await requireAccount(username, context);
      return { ...userView(account), ...leftoverView(patch.disabled === true && !account.spec.disabled ? left : []) };
    }
    const before = await findAccount(context.services, username);
    const wasAdministrator = before?.spec.role === 'platform_admin' && !before.spec.disabled;
    return changedUserView(await update(username, patch, context), wasAdministrator);
  },
});
