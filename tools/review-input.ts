import { z } from 'zod';

export const reviewInput = z.strictObject({
  id: z.string().min(1).max(64).describe('workflow_id'),
  note: z.string().trim().max(1_000).optional(),
});
