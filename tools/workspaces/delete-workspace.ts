import { z } from 'zod';
import { DELETE } from '../../core/base/operation.ts';
import { deleteWorkspace as remove } from '../../core/identity/change-workspace.ts';
import { defineOperation } from '../define.ts';

export const deleteWorkspace = defineOperation({
  name: 'delete_workspace',
  title: 'Delete a workspace',
  description: 'Deletes a workspace that has no peers, with its memberships and tokens.',
  input: z.strictObject({}),
  output: z.strictObject({ deleted: z.literal(true) }),
  access: 'workspaces:write',
  workspace: 'scoped',
  edition: 'community',
  effects: DELETE,
  problems: ['unauthenticated', 'forbidden', 'not_found', 'conflict'],
  http: { method: 'delete', path: '/api/v1/workspaces/:workspaceId' },
  async run(_input, context) {
    await remove(context);
    return { deleted: true as const };
  },
});
