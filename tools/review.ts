import { z } from 'zod';
import { UPDATE } from '../core/operation.ts';
import { workflowDetail } from './workflow-view.ts';

/** What approving and rejecting a workflow have in common: whoever may do the one may do the other. */
export const review = {
  input: z.strictObject({
    id: z.string().min(1).max(64).describe('workflow_id'),
    note: z.string().trim().max(1_000).optional(),
  }),
  output: workflowDetail,
  access: 'workflows:approve',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['not_found', 'conflict', 'expired'],
} as const;
