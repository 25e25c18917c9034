import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { previewRemoval, removeMember as remove } from '../../core/identity/change-members.ts';
import { defineOperation } from '../define.ts';
import { dryRunField, leftoverFields, leftoverView } from '../users/leftover-view.ts';

export const removeMember = defineOperation({
  name: 'remove_member',
  title: 'Remove a member',
  description:
    'Ends a membership in the workspace: API tokens, plans and what waits for approval end; agents and join tokens end unless a successor takes them over; webhooks and schedules pass to the successor or stay without an owner. Sessions go on in other workspaces.',
  input: z.strictObject({
    username: lineOfText(TEXT_LIMITS.name).min(1),
    dryRun: dryRunField,
    successor: lineOfText(TEXT_LIMITS.name)
      .min(1)
      .optional()
      .describe(
        'you yourself, to take over what they leave; unset: whom the settings name, else agents and tokens end',
      ),
  }),
  output: z.strictObject({
    removed: z.boolean().describe('false with dryRun'),
    endedAgents: z.array(z.string()).describe('names of the agents that ended, or would'),
    ...leftoverFields,
  }),
  access: 'members:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  ends: 'username',
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/workspaces/:workspaceId/members/:username' },
  async run({ username, successor, dryRun }, context) {
    if (!dryRun) return { removed: true, endedAgents: await remove(username, successor, context) };
    const left = await previewRemoval(username, successor, context);
    const endedAgents = left.filter(({ type, becomes }) => type === 'agent' && becomes === 'ends');
    return { removed: false, endedAgents: endedAgents.map(({ name }) => name), ...leftoverView(left) };
  },
});
