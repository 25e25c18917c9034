import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { publicKeyFlaw } from './public-key.ts';

/** A WireGuard public key in its one canonical form. */
export const publicKeySchema = lineOfText(TEXT_LIMITS.id).superRefine((text, context) => {
  const flaw = publicKeyFlaw(text);
  if (flaw !== undefined) context.addIssue({ code: 'custom', message: `publicKey ${flaw}` });
});
