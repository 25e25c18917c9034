import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { workspacesOf } from '../../core/identity/who-am-i.ts';
import { defineOperation } from '../define.ts';
import { pageOf, pageQuery } from '../page.ts';
import { workspaceSchema, workspaceView } from './workspace-view.ts';

export const listWorkspaces = defineOperation({
  name: 'list_workspaces',
  title: 'List workspaces',
  description: 'The workspaces that the caller is a member of, by slug; all of them for a platform administrator.',
  input: z.strictObject({ ...pageQuery }),
  output: z.strictObject({ items: z.array(workspaceSchema), next_cursor: z.string().optional() }),
  columns: { Slug: 'slug', Id: 'id', Namespace: 'namespace', 'At most': 'maxNodeCount', Name: 'displayName' },
  access: 'person',
  workspace: 'none',
  edition: 'community',
  effects: READ,
  problems: ['invalid_input', 'unauthenticated', 'forbidden'],
  http: { method: 'get', path: '/api/v1/workspaces' },
  async run(query, { services, caller }) {
    return pageOf(await workspacesOf(services, caller), query, workspaceView);
  },
});
