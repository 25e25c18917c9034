import { z } from 'zod';
import { READ } from '../../core/base/operation.ts';
import { workspaceById } from '../../core/model/workspaces.ts';
import { defineOperation } from '../define.ts';
import { workspaceSchema, workspaceView } from './workspace-view.ts';

export const getWorkspace = defineOperation({
  name: 'get_workspace',
  title: 'Show a workspace',
  description: 'A workspace with its settings, by id, slug or namespace.',
  input: z.strictObject({}),
  output: workspaceSchema,
  access: 'network:read',
  workspace: 'scoped',
  edition: 'community',
  effects: READ,
  problems: ['unauthenticated', 'forbidden', 'not_found'],
  http: { method: 'get', path: '/api/v1/workspaces/:workspaceId' },
  async run(_input, { services, workspace }) {
    return workspaceView(await workspaceById(services, workspace));
  },
});
