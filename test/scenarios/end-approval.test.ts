import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { apiOf, configure, freshWorkspace, loginWithOwn } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';
import { launcher, run } from '../kits/process/run-command.ts';

/** Control planes start one after the other. */
const PATIENCE_MS = 180_000;
const PASSWORD = 'a-good-Pass-1';

test('where the second administrator is gone, the host lets the one who is left approve, and all are told', {
  timeout: PATIENCE_MS,
}, async () => {
  const directory = freshDirectory();
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  configure(directory);
  const first = startMeshd({ directory });
  onTestFinished(() => void first.child.kill('SIGKILL'));
  const api = apiOf(await first.ready());
  const { workspace, token } = await freshWorkspace(api);
  const at = `/api/v1/workspaces/${workspace}`;
  await api('POST', '/api/v1/users', { token, body: { username: 'bob', password: PASSWORD, role: 'platform_admin' } });
  await loginWithOwn(api, 'bob', PASSWORD, 'a-good-Pass-2');
  const weaker = { token, body: { settings: { selfApproval: true } } };
  expect((await api('PATCH', at, weaker)).body).toMatchObject({ status: 'pending_approval' });

  const end = () =>
    run(launcher('meshd'), ['end-approval', workspace, '--config-dir', directory], { env: { HOME: directory } });
  expect(await end()).toMatchObject({ code: 1, stderr: expect.stringContaining('in use by another meshd') });
  await first.stop();
  expect(await end()).toMatchObject({ code: 0, stdout: expect.stringContaining('approve their own requests') });
  expect(await end()).toMatchObject({ code: 1, stderr: expect.stringContaining('needs no second person') });

  const second = startMeshd({ directory });
  onTestFinished(() => void second.child.kill('SIGKILL'));
  const again = apiOf(await second.ready());
  expect((await again('GET', at, { token })).text).toContain('"selfApproval":true');
  expect((await again('GET', '/api/v1/overview', { token, workspace })).text).toContain('"approval-ended"');
});
