import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { otpCode, otpStep } from '../../core/identity/otp.ts';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { mesh } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function secretOf(uri: string): Uint8Array {
  const digits = [...(new URL(uri).searchParams.get('secret') ?? '')];
  const bits = digits.map((digit) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(digit).toString(2).padStart(5, '0'));
  return Uint8Array.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

test('mesh signs in with a code, tells a script that one is needed, and takes the factor away with a recovery code', async () => {
  await using harness = await startHarness();
  const token = await harness.login();
  const begun = await harness.api('POST', '/api/v1/users/me/otp', { token, body: { password: ADMIN_PASSWORD } });
  const secret = secretOf(begun.body.uri);
  const codeAt = (off: number) => otpCode(secret, otpStep(Date.now()) + off);
  const body = { code: codeAt(0) };
  const confirmed = await harness.api('POST', '/api/v1/users/me/otp/confirm', { token, body });
  expect([begun.status, confirmed.status]).toEqual([200, 200]);
  const [recovery = '', other = ''] = confirmed.body.recoveryCodes as string[];
  const login = (...more: readonly string[]) =>
    mesh(['login', '--server', harness.url, ...more], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });

  const without = await login();
  expect([without.code, without.stderr]).toEqual([3, expect.stringContaining('One-time code required: ')]);
  expect((await login('--otp', body.code)).code).toBe(3);
  expect(await login('--otp', recovery)).toMatchObject({ code: 0, stdout: expect.stringContaining('Signed in') });
  const piped = await mesh(['login', '--server', harness.url], { home, stdin: `${ADMIN_PASSWORD}\n${codeAt(1)}\n` });
  expect(piped.code).toBe(0);

  const status = await mesh(['otp', 'status', '--json'], { home });
  expect(JSON.parse(status.stdout)).toMatchObject({ enrolled: true, recoveryCodesLeft: 9 });
  const stdin = `${ADMIN_PASSWORD}\n${other}\n`;
  expect(await mesh(['otp', 'disable'], { home, stdin })).toMatchObject({ code: 0 });
  expect((await login()).code).toBe(0);
});

test('mesh otp enroll shows a QR code and the secret, and a wrong code from a script ends it with 2', async () => {
  await using harness = await startHarness();
  await mesh(['login', '--server', harness.url], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });
  const ran = await mesh(['otp', 'enroll'], { home, stdin: `${ADMIN_PASSWORD}\nno code\n` });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/▄|█/);
  expect(ran.stderr).toMatch(/type the secret into it: [A-Z2-7]{32}/);
  expect((await mesh(['otp', 'status'], { home })).stdout).toContain('There is no second factor.');
});
