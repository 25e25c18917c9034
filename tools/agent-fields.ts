import { z } from 'zod';
import { NAME_PATTERN, normalizeName } from '../core/network/resources.ts';

/** A name as a caller gives it: spaces become hyphens before it is stored. */
export const agentName = z
  .string()
  .refine(
    (name) => NAME_PATTERN.test(normalizeName(name)),
    'A name has 1 to 63 letters, digits, dots, underscores or hyphens.',
  );

export const agentId = z.string().min(1).describe('Id or name of an agent');
