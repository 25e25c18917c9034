import { expect, test } from 'vitest';
import { buildHeldKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a workflow that is approved says by whom, and what it asked for is done', async () => {
  await using kit = await buildHeldKit();
  const workflow = await kit.ask('approve_workflow', { id: kit.held, note: 'seen' });
  expect(workflow).toMatchObject({ id: kit.held, status: 'executed', reviewedBy: 'user:admin', note: 'seen' });
  expect((await kit.ask('list_policies')).items).toHaveLength(1);
});

test('a workflow is approved once, where it is, by a signed-in person with workflows:approve', async () => {
  await using kit = await buildHeldKit();
  expect(await refusalOf(kit.foreign('approve_workflow', { id: kit.held }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('approve_workflow', { id: kit.held }))).toBe('forbidden workflows:approve');
  expect(await refusalOf(kit.holding('workflows:approve')('approve_workflow', { id: kit.held }))).toBe('forbidden');
  await kit.ask('reject_workflow', { id: kit.held });
  expect(await refusalOf(kit.ask('approve_workflow', { id: kit.held }))).toBe('conflict');
});
