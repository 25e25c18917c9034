import { expect, test } from 'vitest';
import { buildHeldKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a workflow that is rejected says by whom, and nothing is done', async () => {
  await using kit = await buildHeldKit();
  const workflow = await kit.ask('reject_workflow', { id: kit.held, note: 'seen' });
  expect(workflow).toMatchObject({ id: kit.held, status: 'rejected', reviewedBy: 'user:admin', note: 'seen' });
  expect((await kit.ask('list_policies')).items).toHaveLength(0);
});

test('a workflow is rejected once, where it is, by a signed-in person with workflows:approve', async () => {
  await using kit = await buildHeldKit();
  expect(await refusalOf(kit.foreign('reject_workflow', { id: kit.held }))).toBe('not_found');
  expect(await refusalOf(kit.as('viewer')('reject_workflow', { id: kit.held }))).toBe('forbidden workflows:approve');
  expect(await refusalOf(kit.holding('workflows:approve')('reject_workflow', { id: kit.held }))).toBe('forbidden');
  await kit.ask('reject_workflow', { id: kit.held });
  expect(await refusalOf(kit.ask('reject_workflow', { id: kit.held }))).toBe('conflict');
});
