import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../../test/kits/http/harness.ts';
import { isInstalled } from '../../test/kits/process/needs.ts';
import { base32, newOtpSecret, otpCode, otpStep } from './otp.ts';

const SEEDS = 40;
/** Consecutive codes of each. */
const CODES = 25;
const STEP_SECONDS = 30;
/** 1970, the last second of a step and the first of the next, and after 2038, where 32 bits end. */
const TIMES = [0, 59, 60, 1_234_567_890, 2 ** 31, 20_000_000_000];

/** Codes as oathtool makes them: of the step of a time in seconds, and of those behind it. */
function codesOf(secret: string, seconds: number, more = 0): string[] {
  const args = ['--totp', '--base32', '--now', `@${seconds}`, '--window', String(more), secret];
  return execFileSync('oathtool', args, { encoding: 'utf8' }).trim().split('\n');
}

describe.skipIf(!isInstalled('oathtool'))('oathtool', () => {
  test('makes the same codes from the same secret at the same time', () => {
    for (let seed = 0; seed < SEEDS; seed += 1) {
      const secret = newOtpSecret();
      const seconds = TIMES[seed % TIMES.length] ?? 0;
      const own = Array.from({ length: CODES }, (_, index) =>
        otpCode(secret, otpStep((seconds + index * STEP_SECONDS) * 1_000)),
      );
      expect([seconds, codesOf(base32(secret), seconds, CODES - 1)]).toEqual([seconds, own]);
    }
  });

  test('enrols an account with the secret that it is shown, and signs it in', async () => {
    await using harness = await startHarness();
    const token = await harness.login();
    const begun = await harness.api('POST', '/api/v1/users/me/otp', { token, body: { password: ADMIN_PASSWORD } });
    const secret = new URL(begun.body.uri).searchParams.get('secret') ?? '';
    const [now = '', next = ''] = codesOf(secret, Math.floor(Date.now() / 1_000), 1);
    const confirmed = await harness.api('POST', '/api/v1/users/me/otp/confirm', { token, body: { code: now } });
    expect(confirmed.status).toBe(200);
    const signIn = (otp?: string) =>
      harness.api('POST', '/api/v1/users/login', { body: { username: 'admin', password: ADMIN_PASSWORD, otp } });
    expect(await signIn()).toMatchObject({ status: 401, body: { code: 'otp_required' } });
    expect((await signIn(next)).status).toBe(200);
    expect((await signIn(next)).status).toBe(401);
  });
});
