import { z } from 'zod';
import { lineOfText, TEXT_LIMITS } from '../../core/base/text.ts';
import { RECOVERY_CODES } from '../../core/identity/recovery-codes.ts';
import { assertion } from './passkey-schema.ts';

/** As people type it from an app or a list; what it is worth is looked at where it is used. */
export const otpText = lineOfText(TEXT_LIMITS.otp).min(1);

/** The proof that the caller is the person, and not somebody with a stolen session. */
export const proof = {
  password: z.string().min(1).max(TEXT_LIMITS.password).optional().describe('needed without passkey'),
  otp: otpText
    .optional()
    .describe(
      'the present code of the authenticator app, or a recovery code: beside the password, with a second factor',
    ),
  passkey: assertion.optional(),
};

export const recoveryCodes = z.strictObject({
  recoveryCodes: z
    .array(z.string())
    .max(RECOVERY_CODES)
    .describe(
      'each signs in once in the place of a code; they are shown here and never again. None where the account has some already',
    ),
});
