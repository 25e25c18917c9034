import { expect, it } from 'vitest';
import { startJoinablePlane } from '../../test/kits/http/joinable-plane.ts';
import { describePrivileged } from '../../test/kits/lab/privileged.ts';
import { lineOf, uidOf } from '../../test/kits/lab/sandboxes.ts';
import { sandboxedJob } from './sandboxed-job.ts';

const TTL_MS = 60_000;

describePrivileged('the example of an agent in a sandbox', () => {
  it('has a child of an ordinary user reach what it was delegated and its control plane, get more once a person approves, and go at its ttl', async () => {
    await using plane = await startJoinablePlane();
    const { admin, harness } = plane;
    const options = { server: harness.url, token: admin.token, ttl: `${TTL_MS / 1_000}s`, say: () => {} };
    const { found, exitCode, left, expiresAt, endedAt } = await sandboxedJob({
      ...options,
      as: lineOf('an ordinary user', []),
    });
    expect(found).toMatchObject({ name: 'reporter', uid: uidOf('an ordinary user'), secrets: 0, database: 'db 5432' });
    expect(found).toMatchObject({ shell: expect.stringMatching(/^E/), reports: expect.stringMatching(/^E/) });
    expect(found).toMatchObject({ internet: 'ENETUNREACH', planeDirectly: 'ECONNREFUSED' });
    expect(found).toMatchObject({ asked: 'pending_approval', approved: 'db 9090' });
    expect([exitCode, left]).toEqual([5, ['db']]);
    const lateBy = endedAt - Date.parse(expiresAt);
    expect(lateBy).toBeGreaterThanOrEqual(-1_000);
    expect(lateBy).toBeLessThan(TTL_MS);
  });
});
