import { expect, test } from 'vitest';
import { startJoinablePlane } from '../../test/kits/http/joinable-plane.ts';
import { delegatedJob } from './delegated-job.ts';

const TTL_MS = 20_000;
/** The user nobody, where the tests have superuser rights. */
const ORDINARY = process.getuid?.() === 0 ? { uid: 65_534 } : {};

test('a delegated child in a program reaches one port of the database and nothing else, and is gone at its ttl', async () => {
  await using plane = await startJoinablePlane();
  const { admin, harness } = plane;
  const options = { server: harness.url, token: admin.token, ttl: `${TTL_MS / 1_000}s`, say: () => {} };
  const done = await delegatedJob({ ...options, ...ORDINARY });
  const { found, delegated } = done;
  expect(found).toMatchObject({ name: 'reporter', expiresAt: delegated.expiresAt, database: 'db 5432' });
  expect(found).toMatchObject({ shell: 'EACCES', other: expect.stringMatching(/^(?:EACCES|not_found)$/) });
  expect(found).toMatchObject({ ended: 'removed', isOpen: false });
  expect(found['uid']).not.toBe(0);
  expect(done.exitCode).toBe(0);
  expect(done.left.toSorted()).toEqual(['db', 'web']);
  const lateBy = done.endedAt - Date.parse(delegated.expiresAt);
  expect(lateBy).toBeGreaterThanOrEqual(0);
  expect(lateBy).toBeLessThan(TTL_MS);
});
