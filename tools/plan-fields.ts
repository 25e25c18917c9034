import { z } from 'zod';
import type { EffectView } from '../core/intent/effect-view.ts';
import { RISK_LEVELS } from '../core/intent/risk.ts';

export const riskLevel = z.enum(RISK_LEVELS);

export const shownChange = z.strictObject({
  action: z.enum(['create', 'update', 'delete']),
  resource: z.string(),
  name: z.string(),
  before: z.string().describe('YAML; empty for a creation'),
  after: z.string().describe('YAML; empty for a deletion'),
});

const row = z.strictObject({
  src: z.string(),
  dst: z.string(),
  protocol: z.string(),
  from: z.int().nullable(),
  to: z.int().nullable(),
});

export const effectFields = z.strictObject({
  opened: z.array(row),
  closed: z.array(row),
  opened_pairs: z.int(),
  closed_pairs: z.int(),
  unchanged_count: z.int().describe('Pairs that may talk before and after alike'),
  omitted: z.int().describe('Rows left out'),
});

/** Copies, because answers are checked as mutable data. */
export function effectFieldsOf({ opened, closed, ...counts }: EffectView): z.input<typeof effectFields> {
  return { ...counts, opened: [...opened], closed: [...closed] };
}
