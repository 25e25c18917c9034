import { z } from 'zod';
import { removeMember as remove } from '../core/identity/change-members.ts';
import { DELETE } from '../core/operation.ts';
import { defineOperation } from './define.ts';

export const removeMember = defineOperation({
  name: 'remove_member',
  title: 'Remove a member',
  description:
    'Ends a membership in the workspace, and the API tokens that its account has there. Sessions go on in other workspaces.',
  input: z.strictObject({ username: z.string().min(1).max(63) }),
  output: z.strictObject({ removed: z.literal(true) }),
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/workspaces/:workspaceId/members/:username' },
  async run({ username }, context) {
    await remove(username, context);
    return { removed: true as const };
  },
});
