import { expect, test } from 'vitest';
import { startHarness } from '../../test/kits/http/harness.ts';
import { verifies } from '../../test/verifies.ts';
import { mainJob } from './main-job.ts';

const POLICY = 'only-to-db';

test('an agent plans a change, a person approves it, the past stays answerable, and a sub-agent ends on time', async () => {
  verifies('mcp-plan', 'mcp-apply', 'mcp-list-snapshots', 'mcp-diff-snapshots', 'mcp-check-connectivity-at');
  verifies('delegate-answer', 'delegate-enrol', 'delegate-ttl', 'limit-delegated-life', 'auth-sub-agent');
  await using harness = await startHarness();
  const steps: string[] = [];
  const say = (step: string) => void steps.push(step);
  const found = await mainJob({ server: harness.url, token: await harness.login(), say });

  expect(found.peers).toEqual(['db-1', 'laptop', 'web-1', 'web-2']);
  const { plan, applied, workflow } = found;
  expect(plan).toMatchObject({ verified: true, risk_level: 'low', effect: { opened: [] } });
  expect(new Set(plan.effect.closed.map(({ src, dst }) => `${src} ${dst}`))).toEqual(
    new Set(['laptop db-1', 'outside db-1']),
  );
  expect(applied.status).toBe('pending_approval');
  expect(found.waiting.verdict).toBe('reachable');
  expect(workflow).toMatchObject({ id: applied.workflow_id, status: 'executed', reviewedBy: 'user:admin' });

  expect(found.web).toMatchObject({ verdict: 'reachable', blocked_by: [] });
  expect(found.laptop.verdict).toBe('unreachable');
  expect(JSON.stringify(found.laptop.blocked_by)).toContain(POLICY);
  const approval = { workflow_id: applied.workflow_id, reviewed_by: 'user:admin' };
  expect(found.past).toMatchObject({
    verdict: 'reachable',
    now: { verdict: 'unreachable', changed_by: { ...approval, resources: [`created MeshPolicy/${POLICY}`] } },
  });
  expect(found.diff).toMatchObject({ added: [{ kind: 'MeshPolicy', name: POLICY }], commits: [approval] });

  expect(found.tooWide).toContain('A sub-agent cannot have a scope its parent lacks: intents:apply.');
  expect(found.delegated).toMatchObject({
    enrollmentToken: expect.stringMatching(/^mesh-dlg-/),
    expiresAt: found.joined.expiresAt,
    parentRef: { name: 'deployer' },
  });
  expect(found.within.verdict).toBe('reachable');
  expect(found.beyond).toMatchObject({ verdict: 'unreachable', blocked_by: [{ reason_code: 'DELEGATION_BOUND' }] });
  expect(found.subAgentTools).not.toContain('plan_network_change');
  expect(found.subAgentTools).toContain('list_peers');
  expect(found.lateBy).toBeGreaterThanOrEqual(0);
  expect(found.afterwards).toMatch(/401|unauth/i);
  expect(steps).toHaveLength(12);
});
