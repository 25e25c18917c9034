import { z } from 'zod';
import { CADENCES, FRAMEWORKS } from '../../core/model/frameworks.ts';

export const scheduleSchema = z.strictObject({
  framework: z.enum(FRAMEWORKS),
  cadence: z.enum(CADENCES),
  days: z.int().nullable(),
  enabled: z.boolean(),
  next_at: z.string().nullable(),
});
