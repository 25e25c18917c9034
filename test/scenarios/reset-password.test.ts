import { existsSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { apiOf, configure, FIRST_ADMIN, loginWithOwn } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';

/** Control planes start one after the other. */
const PATIENCE_MS = 180_000;
const OWN = 'the password of admin 1';
const GIVEN = 'given by the host 2';

test('whoever runs the host lets the only administrator in again, beside a running meshd and without one', {
  timeout: PATIENCE_MS,
}, async () => {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  configure(directory);
  const reset = (args: readonly string[], stdin = '') =>
    run(launcher('meshd'), ['reset-password', ...args, '--config-dir', directory], { env: { HOME: directory }, stdin });
  const first = startMeshd({ directory });
  onTestFinished(() => void first.child.kill('SIGKILL'));
  const api = apiOf(await first.ready());
  const token = await loginWithOwn(api, FIRST_ADMIN.username, FIRST_ADMIN.password, OWN);
  const statusOf = async (bearer: string) => (await api('GET', '/api/v1/users', { token: bearer })).status;
  expect(await statusOf(token)).toBe(200);

  const beside = await reset(['admin'], `${GIVEN}\n`);
  expect(beside).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('is reset') });
  expect(beside.stdout).not.toContain(GIVEN);
  expect(await statusOf(token)).toBe(401);
  const limited = await api('POST', '/api/v1/users/login', { body: { username: 'admin', password: GIVEN } });
  expect(await statusOf((limited.body as { data: { token: string } }).data.token)).toBe(403);
  const again = await loginWithOwn(api, 'admin', GIVEN, 'the next one of admin 3');
  const log = await api('GET', '/api/v1/audit?type=event', { token: again });
  expect(log.text).toMatch(/"event":"password_reset","result":"ok","detail":\{"account":"admin"\}/);
  expect(await reset(['nobody', '--generate'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no account'),
  });
  expect(await reset(['admin'], 'short\n')).toMatchObject({ code: 1, stderr: expect.stringContaining('at least') });
  expect(readdirSync(directory).filter((name) => name.startsWith('password-reset'))).toEqual([]);
  expect(`${first.stdout()}${first.stderr()}`).not.toContain(GIVEN);
  await first.stop();

  const without = await reset(['admin']);
  const [, generated = ''] = /shown this once: (\S+)/.exec(without.stdout) ?? [];
  expect([without.code, generated.length]).toEqual([0, 20]);
  expect(existsSync(path.join(directory, 'password-reset.json'))).toBe(false);
  const second = startMeshd({ directory });
  onTestFinished(() => void second.child.kill('SIGKILL'));
  const later = apiOf(await second.ready());
  const last = await loginWithOwn(later, 'admin', generated, 'the last one of admin 4');
  expect((await later('GET', '/api/v1/users', { token: last })).status).toBe(200);
});
