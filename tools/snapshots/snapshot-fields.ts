import { instantText, lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';

export const instant = instantText('An ISO 8601 instant such as 2026-01-31T12:00:00Z.');

/** Text that names a moment: the id of a snapshot or an instant. */
export const momentText = lineOfText(TEXT_LIMITS.id);
