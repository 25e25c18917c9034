import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { memberSchema, memberView } from './member-view.ts';

export const listMembers = defineOperation({
  name: 'list_members',
  title: 'List members',
  description: 'The members of the workspace and their roles, those who have no account yet among them.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({ items: z.array(memberSchema), next_cursor: z.string().optional() }),
  columns: { Name: 'username', Role: 'role', Since: 'since' },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/members' },
  async run(query, { services: { store }, workspace }) {
    const { items } = await store.list(workspace, 'Member');
    return pageOf(items, query, memberView);
  },
});
