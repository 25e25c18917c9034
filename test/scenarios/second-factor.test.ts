import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ADMIN_PASSWORD, startHarness } from '../kits/http/harness.ts';
import { enrolSecondFactor } from '../kits/http/second-factor.ts';
import { mesh } from '../kits/process/run-command.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'mesh-home-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('mesh signs in with a code, tells a script that one is needed, and takes the factor away with a recovery code', async () => {
  await using harness = await startHarness();
  const token = await harness.login();
  const { code, codeAt, recoveryCodes } = await enrolSecondFactor(harness, token);
  const [recovery = '', other = ''] = recoveryCodes;
  const login = (...more: readonly string[]) =>
    mesh(['login', '--server', harness.url, ...more], { home, env: { MESH_PASSWORD: ADMIN_PASSWORD } });

  const without = await login();
  expect([without.code, without.stderr]).toEqual([3, expect.stringContaining('One-time code required: ')]);
  expect((await login('--otp', code)).code).toBe(3);
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
