import { NAME_PATTERN, normalizeName } from '../core/network/resources.ts';
import { lineOfText, TEXT_LIMITS } from '../core/text.ts';

/** A name as a caller gives it: spaces become hyphens before it is stored. */
export const agentName = lineOfText(TEXT_LIMITS.name).refine(
  (name) => NAME_PATTERN.test(normalizeName(name)),
  'A name has 1 to 63 letters, digits, dots, underscores or hyphens.',
);

export const agentId = lineOfText(TEXT_LIMITS.reference).min(1).describe('Id or name of an agent');
