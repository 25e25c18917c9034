import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { WORKSPACE_ROLES } from '../../core/base/scope.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { normalizeUsername } from '../../core/identity/accounts.ts';
import { approverNotice } from '../../core/identity/approvers.ts';
import { setMember as set } from '../../core/identity/change-members.ts';
import { defineOperation } from '../define.ts';
import { memberSchema, memberView } from './member-view.ts';

export const setMember = defineOperation({
  name: 'set_member',
  title: 'Set a member',
  description:
    'Makes who has this user name a member of the workspace, or changes its role there, at once. The answer is the same whether or not there is such an account: one made later is a member from its first login.',
  input: z.strictObject({ username: lineOfText(TEXT_LIMITS.name).min(1), role: z.enum(WORKSPACE_ROLES) }),
  output: memberSchema.extend({
    notice: z
      .string()
      .optional()
      .describe('what changes once the new approver has signed in with a password of their own or by an issuer'),
  }),
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'put', path: '/api/v1/workspaces/:workspaceId/members/:username' },
  async run({ username, role }, context) {
    const notice = await approverNotice(context.services, context.workspace, normalizeUsername(username), role);
    const member = await set(username, role, context);
    return { ...memberView(member), ...(notice !== undefined && { notice }) };
  },
});
