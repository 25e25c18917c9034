import { z } from 'zod';
import { UPDATE } from '../../core/base/operation.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { workflowDetailSchema } from './workflow-view.ts';

/** The common fields of approve and reject: whoever may do one may do the other. */
export const review = {
  input: z.strictObject({
    id: lineOfText(TEXT_LIMITS.id).min(1).describe('workflow_id'),
    note: lineOfText(TEXT_LIMITS.note).trim().optional(),
  }),
  output: workflowDetailSchema,
  access: 'workflows:approve',
  workspace: 'scoped',
  edition: 'community',
  effects: UPDATE,
  problems: ['not_found', 'conflict', 'expired'],
} as const;
