import { expect, test } from 'vitest';
import { apiOf, configure, freshWorkspace } from '../kits/http/harness.ts';
import { freshDirectory, startMeshd } from '../kits/process/meshd.ts';

// A disk without room takes the first lines or none; /dev/full is one.
const DISK_FULL = ['sh', '-c', 'exec bin/meshd --standalone "$@" 2>/dev/full', 'sh'] as const;

test('where the disk of the log is full the plane starts, serves, says so, and ends when it is asked to', async () => {
  const directory = freshDirectory();
  configure(directory);
  const meshd = startMeshd({ directory, command: [...DISK_FULL] });
  const url = await meshd.ready();
  const { token, workspace } = await freshWorkspace(apiOf(url));
  const missing = await fetch(`${url}/nothing`);
  expect([missing.status, missing.headers.get('content-type')]).toEqual([404, expect.stringContaining('problem+json')]);
  const refused = await apiOf(url)('GET', '/api/v1/policies/none', { token, workspace });
  expect([refused.status, refused.body.code]).toEqual([404, 'not_found']);
  const ready = await fetch(`${url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { degraded: [expect.stringMatching(/^The log cannot be written, \d+ lines were lost/)] },
  ]);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(Number(/^mesh_log_lost_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
  expect(await meshd.stop()).toBe(0);
});

test('a plane whose log nobody reads any more goes on', async () => {
  const meshd = startMeshd({ command: ['sh', '-c', 'exec bin/meshd --standalone "$@"', 'sh'] });
  const url = await meshd.ready();
  meshd.child.stderr?.destroy();
  for (let request = 0; request < 20; request += 1) expect((await fetch(`${url}/nothing`)).status).toBe(404);
  expect(await meshd.stop()).toBe(0);
});
