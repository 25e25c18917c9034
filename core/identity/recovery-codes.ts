import { hash, randomBytes } from 'node:crypto';
import { base32, sameText } from './otp.ts';

/** Codes that an enrolment gives. */
export const RECOVERY_CODES = 10;
/** 80 bits: so many cannot be guessed, so a fast hash keeps them. */
const CODE_BYTES = 10;

/** Fresh codes to sign in with where the device with the app is lost, and what is stored of them. */
export function newRecoveryCodes(): { readonly codes: readonly string[]; readonly hashes: readonly string[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, () => {
    const text = base32(randomBytes(CODE_BYTES)).toLowerCase();
    return (text.match(/.{4}/g) ?? []).join('-');
  });
  return { codes, hashes: codes.map(hashOf) };
}

/** The hashes without that of the code; undefined where it is none of them. */
export function spendRecoveryCode(hashes: readonly string[], code: string): readonly string[] | undefined {
  const spent = hashOf(code);
  const left = hashes.filter((each) => !sameText(each, spent));
  return left.length < hashes.length ? left : undefined;
}

/** Hashes a code, however its groups are separated. */
function hashOf(code: string): string {
  return hash('sha256', code.replaceAll(/[\s-]/g, '').toLowerCase(), 'base64');
}
