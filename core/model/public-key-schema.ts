import { lineOfText, TEXT_LIMITS } from '../base/text.ts';
import { isPublicKey } from './public-key.ts';

const DETAIL = 'publicKey is an X25519 public key in base64, 44 characters, as `wg pubkey` writes it';

/** A WireGuard public key in its one canonical form. */
export const publicKeySchema = lineOfText(TEXT_LIMITS.id).refine(isPublicKey, { error: DETAIL });
