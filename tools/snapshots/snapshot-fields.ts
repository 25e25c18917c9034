import { momentSchemas, pastInstant } from '../../core/base/moment-text.ts';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';

/** An instant of the past; `invoke` reads words such as `yesterday` too. */
export const instant = pastInstant;

/** Text that names a moment: the id of a snapshot or an instant. */
export const momentText = lineOfText(TEXT_LIMITS.id).register(momentSchemas, { isMoment: true });
