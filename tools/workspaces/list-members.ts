import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { approversOf } from '../../core/identity/approvers.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { memberSchema, memberView } from './member-view.ts';

const listed = memberSchema.extend({
  countsAsApprover: z
    .boolean()
    .optional()
    .describe(
      'May approve, and has signed in since they may, with a password of their own or by an issuer. Told with users:write alone, for it says who has an account',
    ),
});

export const listMembers = defineOperation({
  name: 'list_members',
  title: 'List members',
  description: 'The members of the workspace and their roles, those who have no account yet among them.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({ items: z.array(listed), next_cursor: z.string().optional() }),
  columns: { Name: 'username', Role: 'role', Since: 'since', Approver: 'countsAsApprover' },
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId/members' },
  async run(query, { services, workspace, caller }) {
    const { items } = await services.store.list(workspace, 'Member');
    const mayListAccounts = caller.scopesIn(workspace).has('users:write') === true;
    const approvers = mayListAccounts ? await approversOf(services, workspace) : undefined;
    const isApprover = (name: string) => approvers?.members.has(name) === true && approvers.signedIn.has(name);
    return pageOf(items, query, (member) => ({
      ...memberView(member),
      ...(approvers && { countsAsApprover: isApprover(member.name) }),
    }));
  },
});
