import { z } from 'zod';
import { LEFTOVER_TYPES, type Leftover } from '../../core/identity/offboarding-preview.ts';
import { fitting } from '../page.ts';

/** Items of one answer. */
export const MAX_LEFTOVERS = 1_000;

export const dryRunField = z
  .boolean()
  .optional()
  .describe('change nothing; say what would end and what would pass to whom');

export const leftoverFields = {
  dryRun: z.literal(true).optional().describe('nothing was changed'),
  left: z
    .array(
      z.strictObject({
        workspace: z.string(),
        type: z.enum(LEFTOVER_TYPES),
        id: z.string(),
        name: z.string(),
        becomes: z.enum(['ends', 'passes']),
        to: z.string().nullable().describe('who takes it over; null for what passes to the workspace without an owner'),
      }),
    )
    .max(MAX_LEFTOVERS)
    .optional()
    .describe('with dryRun: what they leave, and what would become of it'),
  omitted_left: z.int().optional().describe('left out here'),
};

export function leftoverView(items: readonly Leftover[]) {
  const left = fitting(items, MAX_LEFTOVERS, (item) => item);
  return { dryRun: true as const, left: [...left], omitted_left: items.length - left.length };
}
