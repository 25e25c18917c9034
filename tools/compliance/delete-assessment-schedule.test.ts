import { expect, test } from 'vitest';
import { buildWorkspaceKit, refusalOf } from '../../test/kits/plane/workspace-kit.ts';

test('a schedule that is deleted is gone, others and the other settings stay', async () => {
  await using kit = await buildWorkspaceKit();
  await kit.ask('update_workspace', { settings: { compliance: { cde: ['zone=card'] } } });
  for (const framework of ['soc2', 'hipaa']) {
    await kit.ask('set_assessment_schedule', { framework, cadence: 'monthly' });
  }
  await kit.ask('delete_assessment_schedule', { framework: 'SOC 2' });
  const { settings } = await kit.ask('get_workspace');
  expect(settings.compliance).toEqual({
    cde: ['zone=card'],
    schedules: { hipaa: { cadence: 'monthly', enabled: true } },
  });
  expect(await refusalOf(kit.ask('delete_assessment_schedule', { framework: 'soc2' }))).toBe('not_found');
  await kit.ask('delete_assessment_schedule', { framework: 'hipaa' });
  expect(await kit.ask('list_assessment_schedules')).toEqual({ items: [] });
});

test('to delete a schedule needs members:write', async () => {
  await using kit = await buildWorkspaceKit();
  const asked = { framework: 'soc2' };
  expect(await refusalOf(kit.as('auditor')('delete_assessment_schedule', asked))).toBe('forbidden members:write');
});
