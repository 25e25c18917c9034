import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { silentLog } from '../../core/base/silent-log.ts';
import { findAccount } from '../../core/identity/accounts.ts';
import { newPassword } from '../../core/identity/reset-password.ts';
import { buildIdentityKit } from '../../test/kits/plane/identity-kit.ts';
import { loadConfig } from './config.ts';
import { configWarnings } from './config-warnings.ts';
import { hasTrustedWriters } from './directory-writers.ts';
import { askForReset, resetRequestJob } from './reset-requests.ts';

async function buildScene() {
  const directory = mkdtempSync(path.join(tmpdir(), 'mesh-reset-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const kit = await buildIdentityKit();
  onTestFinished(() => kit[Symbol.asyncDispose]());
  const { services } = kit;
  const rules = services.settings.signIn;
  // Due at once each time.
  let now = Date.now();
  const clock = { now: () => (now += 60_000) };
  const job = resetRequestJob(directory, { services, rules, clock, log: silentLog });
  const reset = await newPassword('admin', 'given by the host 2', rules);
  const revision = async () => (await findAccount(services, 'admin'))?.revision;
  return { directory, request: path.join(directory, 'password-reset.json'), job, reset, revision };
}

test('a request of the user of meshd is carried out and answered', async () => {
  const { directory, job, reset, revision } = await buildScene();
  const before = await revision();
  const request = askForReset(directory, reset);
  await job.run();
  expect(request.answer()).toMatchObject({ id: expect.any(String) });
  expect(await revision()).not.toBe(before);
});

test.each(['770', '757', '777', '1777'])('no request is made or taken in a directory of mode %s', async (mode) => {
  const { directory, request, job, reset, revision } = await buildScene();
  const before = await revision();
  writeFileSync(request, JSON.stringify({ id: 'r_1', ...reset }), { mode: 0o600 });
  chmodSync(directory, Number.parseInt(mode, 8));
  await job.run();
  expect(await revision()).toBe(before);
  expect(() => askForReset(directory, reset)).toThrow(`run chmod go-w ${directory}`);
  const details = () => configWarnings(loadConfig({}, directory)).map(({ detail }) => detail);
  expect(details()).toEqual([expect.stringContaining(`other users can write in ${directory}`)]);
  chmodSync(directory, 0o755);
  expect(details()).toEqual([]);
});

test('a request that others can write, or that another user owns, is removed and not carried out', async () => {
  const { request, job, reset, revision } = await buildScene();
  const before = await revision();
  const put = () => writeFileSync(request, JSON.stringify({ id: 'r_1', ...reset }), { mode: 0o600 });
  for (const mode of [0o620, 0o602]) {
    put();
    chmodSync(request, mode);
    await job.run();
    expect([existsSync(request), await revision()]).toEqual([false, before]);
  }
  const user = process.geteuid?.() ?? 0;
  const owned = (uid: number) => hasTrustedWriters({ uid, mode: 0o100_600 });
  expect([owned(user), owned(0), owned(user + 1)]).toEqual([true, true, false]);
  if (user !== 0) return;
  put();
  chownSync(request, 1, 1);
  await job.run();
  expect([existsSync(request), await revision()]).toEqual([false, before]);
});

test('a directory in place of a request is removed, and the next request is carried out', async () => {
  const { directory, request, job, reset, revision } = await buildScene();
  const before = await revision();
  mkdirSync(path.join(request, 'inner'), { recursive: true });
  await job.run();
  mkdirSync(request, { recursive: true });
  const asked = askForReset(directory, reset);
  await job.run();
  expect(asked.answer()).toBeDefined();
  expect(await revision()).not.toBe(before);
});

test('a request takes nothing over from a file that was there before', async () => {
  const { directory, request, reset } = await buildScene();
  const other = path.join(directory, 'other');
  writeFileSync(other, 'kept');
  linkSync(other, request);
  chmodSync(request, 0o666);
  askForReset(directory, reset);
  expect(statSync(request).ino).not.toBe(statSync(other).ino);
  expect(statSync(request).mode & 0o777).toBe(0o600);
});
