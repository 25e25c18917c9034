import { lineOfText, TEXT_LIMITS } from '../base/text.ts';

/** Software version that a device reports. */
export const versionSchema = lineOfText(TEXT_LIMITS.version)
  .min(1)
  .describe('Of the software that the device runs, such as 0.1.0');
