import { z } from 'zod';
import { CREATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { addWorkspace as add, NEXT_FREE } from '../../core/identity/add-workspace.ts';
import { cidrSchema } from '../../core/model/network-spec.ts';
import { MAX_NODE_COUNT } from '../../core/model/workspaces.ts';
import { defineOperation } from '../define.ts';
import { workspaceSchema, workspaceView } from './workspace-view.ts';

const SLUG = /^(?!w_)[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

export const addWorkspace = defineOperation({
  name: 'add_workspace',
  title: 'Create a workspace',
  description: 'Creates a workspace with its default network. Its creator becomes its first administrator.',
  input: z.strictObject({
    slug: lineOfText(TEXT_LIMITS.name)
      .regex(SLUG, { error: 'must be 1 to 63 of a-z, 0-9, ".", "_" and "-", and begin and end with a letter or digit' })
      .describe('unique among slugs and namespaces of the installation'),
    namespace: lineOfText(TEXT_LIMITS.name)
      .regex(NAMESPACE, { error: 'must be 1 to 63 of a-z, 0-9 and "-", and begin and end with a letter or digit' })
      .describe('unique like the slug, which it may equal; metadata.namespace of its resources'),
    displayName: lineOfText(TEXT_LIMITS.title).trim().min(1),
    maxNodeCount: z.number().int().min(1).max(MAX_NODE_COUNT).describe('most peers it may have'),
    cidr: z
      .union([z.literal(NEXT_FREE), cidrSchema], { error: 'must be next-free or an IPv4 block such as 10.200.0.0/24' })
      .optional()
      .describe('block of its network: next-free for one that no other network here has; 10.96.0.0/24 by default'),
  }),
  output: workspaceSchema,
  access: 'workspaces:write',
  workspace: 'none',
  edition: 'community',
  effects: CREATE,
  problems: ['invalid_input', 'unauthenticated', 'forbidden', 'conflict'],
  http: { method: 'post', path: '/api/v1/workspaces/add', envelope: 'data' },
  async run(input, context) {
    return workspaceView(await add(input, context));
  },
});
