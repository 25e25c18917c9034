import { expect, test } from 'vitest';
import { buildHeldKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a workflow says who asked for what, what it would change, and where a person approves', async () => {
  await using kit = await buildHeldKit();
  const workflow = await kit.ask('get_workflow', { id: kit.held });
  expect(workflow).toMatchObject({ status: 'pending', requestedBy: 'user:operator', reviewedBy: null });
  expect(workflow.changes).toMatchObject([{ action: 'create', resource: 'MeshPolicy', name: 'shut' }]);
  expect(workflow.approvalUrl).toContain(kit.held);
});

test('a workflow of another workspace is unknown, and reading one needs network:read', async () => {
  await using kit = await buildHeldKit();
  expect(await refusalOf(kit.foreign('get_workflow', { id: kit.held }))).toBe('not_found');
  expect(await refusalOf(kit.ask('get_workflow', { id: 'wf_none' }))).toBe('not_found');
  expect(await refusalOf(kit.holding()('get_workflow', { id: kit.held }))).toBe('forbidden network:read');
});
