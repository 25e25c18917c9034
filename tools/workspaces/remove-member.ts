import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { removeMember as remove } from '../../core/identity/change-members.ts';
import { defineOperation } from '../define.ts';

export const removeMember = defineOperation({
  name: 'remove_member',
  title: 'Remove a member',
  description:
    'Ends a membership in the workspace with all that hangs on it there: tokens, plans, what waits for approval, and agents, unless a successor takes them over. Sessions go on in other workspaces.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.name).min(1),
    successor: lineOfText(TEXT_LIMITS.name)
      .min(1)
      .optional()
      .describe('you yourself, to take over the agents; unset: they end'),
  }),
  output: z.strictObject({
    removed: z.literal(true),
    endedAgents: z.array(z.string()).describe('names of the agents that ended'),
  }),
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  ends: 'username',
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/workspaces/:workspaceId/members/:username' },
  async run({ username, successor }, context) {
    return { removed: true as const, endedAgents: await remove(username, successor, context) };
  },
});
