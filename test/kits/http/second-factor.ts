import { otpCode, otpStep } from '../../../core/identity/otp.ts';
import { ADMIN_PASSWORD, type Harness } from './harness.ts';

/** The present code of a secret in base 32, as an app shows it. */
export function codeOf(secret: string, now = Date.now()): string {
  return otpCode(bytesOf(secret), otpStep(now));
}

/** RFC 4648, base 32. */
function bytesOf(secret: string): Uint8Array {
  const digits = [...secret];
  const bits = digits.map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'));
  return Uint8Array.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** Gives the account of a session a second factor. `codeAt(0)` is used up by it. */
export async function enrolSecondFactor({ api }: Pick<Harness, 'api'>, token: string, password = ADMIN_PASSWORD) {
  const begun = await api('POST', '/api/v1/users/me/otp', { token, body: { password } });
  const secret = bytesOf(new URL(begun.body.uri).searchParams.get('secret') ?? '');
  const codeAt = (off: number) => otpCode(secret, otpStep(Date.now()) + off);
  const code = codeAt(0);
  const confirmed = await api('POST', '/api/v1/users/me/otp/confirm', { token, body: { code } });
  if (confirmed.status !== 200) throw new Error(confirmed.text);
  return { code, codeAt, recoveryCodes: confirmed.body.recoveryCodes as readonly string[] };
}
