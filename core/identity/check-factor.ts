import { MeshError } from '../base/errors.ts';
import type { NetworkServices } from '../state/services.ts';
import type { SecondFactor } from './accounts.ts';
import { matchingStep } from './otp.ts';
import { spendRecoveryCode } from './recovery-codes.ts';
import { openSecret } from './sealed-secret.ts';

/** Apps show codes of six digits; all else may be a recovery code. */
const CODE = /^\d{6}$/;

/**
 * The factor as it is once the code is used, to be written with what the code allows: so it is good once, whoever comes at the
 * same time and after whichever restart. Undefined for a code that is wrong or was used.
 *
 * @throws MeshError `unavailable` where the secret cannot be read any more
 */
export function checkFactor(
  { clock, keys }: Pick<NetworkServices, 'clock' | 'keys'>,
  account: string,
  factor: SecondFactor,
  text: string,
): { readonly factor: SecondFactor; readonly by: 'code' | 'recovery code' } | undefined {
  // Apps show a code in two groups.
  const code = text.replaceAll(/\s/g, '');
  if (!CODE.test(code)) {
    const recovery = spendRecoveryCode(factor.recovery, text);
    return recovery && { factor: { ...factor, recovery }, by: 'recovery code' };
  }
  if (factor.secret === '') return undefined;
  const secret = openSecret(keys, account, factor.secret);
  if (!secret) {
    const message =
      'The second factor cannot be read: credentials.json is not the one that it was enrolled with. ' +
      'Use a recovery code, or have a platform administrator reset it (mesh admin reset-otp).';
    throw new MeshError('unavailable', message);
  }
  const step = matchingStep(secret, code, clock.now(), factor.lastStep);
  return step === undefined ? undefined : { factor: { ...factor, lastStep: step }, by: 'code' };
}
